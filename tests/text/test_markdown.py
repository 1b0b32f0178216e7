"""Markdown read aloud: what is heard, whatever the sizes of the pieces it comes in."""

import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from s2mlx.text import read_markdown


def heard(text, **how):
    """The words, and the same for every character by itself and for pieces of random sizes."""
    whole = "".join(read_markdown([text], **how))
    assert "".join(read_markdown(text, **how)) == whole
    for seed in range(5):
        assert "".join(read_markdown(cut(text, seed), **how)) == whole
    return whole


def cut(text, seed):
    draw, at, pieces = random.Random(seed), 0, []
    while at < len(text):
        size = draw.choice([1, 2, 3, 5, 8, 40])
        pieces.append(text[at : at + size])
        at += size
    return pieces


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Plain words, 3.14 of them.\nAnd a line.", "Plain words, 3.14 of them.\nAnd a line."),
        ("Some *soft*, **loud** and ***both*** words.", "Some soft, loud and both words."),
        ("__init__ of snake_case_name", "init of snake_case_name"),
        ("2 * 3 = 6, 2*3 = 6, ~5 apples, ~~gone~~", "2 * 3 = 6, 2*3 = 6, ~5 apples, gone"),
        ("**One sentence. Another.** Third.", "One sentence. Another. Third."),
        (r"Not \*soft\*, C:\dir and a\_b", r"Not *soft*, C:\dir and a_b"),
        ("Run `ls -l *.py` now, or ``a`b``.", "Run ls -l *.py now, or a`b."),
        ("An `unclosed sign and *star", "An unclosed sign and star"),
        ("See [the *manual*](https://a.b/c_(d) 'Title').", "See the manual."),
        ("See [docs][1] and [docs][].", "See docs and docs."),
        ("![A lighthouse](x.png)! Nice!", "A lighthouse! Nice!"),
        ("Go to https://docs.python.org/3/lib.html. Or www.a.b, now.", "Go to . Or , now."),
        ("见https://example.com/x。然后", "见。然后"),
        ("<https://a.b/c> and <me@a.b> and <b>this</b>", " and  and this"),
        ("a < b and c > d <3", "a < b and c > d <3"),
        ("AT&amp;T, AT&T &copy; 1 & 2", "AT&T, AT&T © 1 & 2"),
        ("A note[^1].\n\n[^1]: Its words.", "A note.\n\nIts words."),
        ("[ref]: https://a.b 'T'\nWords.", "Words."),
        ("One<br>two<!-- not\nthis -->", "One\ntwo"),
        ("> Quoted\n> > twice\nLazy", "Quoted\ntwice\nLazy"),
        ("# Title #\nText\n\nOther\n=====\nText", "Title \n\nText\n\nOther\n\nText"),
        ("C# and #tag\n####### seven", "C# and #tag\n####### seven"),
        ("Two:\n- one\n* [x] two\n+ three", "Two:\n\none\n\ntwo\n\nthree"),
        ("1. First\n2) Second\n\n3.14 is pi\n1999 was", "1. First\n\n2) Second\n\n3.14 is pi\n1999 was"),
        ("One\n\n***\n\nTwo\n- - -\nThree", "One\n\nTwo\n\nThree"),
        ("| a | *b* |\n|:--|---|\n| 1 | [c](d) |\nEnd", "a, b\n\n1, c\n\nEnd"),
        ("Code:\n```python\nprint('no')\n```\nEnd.", "Code:\n\nEnd."),
        ("~~~\n```\n~~~\nEnd.", "End."),
        ("````\n```\nno\n````\nEnd.", "End."),
        ("> ```\n> no\n> ```\n> End.", "End."),
        ("Unclosed:\n```\nno\nno", "Unclosed:\n\n"),
        ("Text\n\n    no = 1\n\n    no\n\nEnd", "Text\n\nEnd"),
        ("- item\n\n    of it\n\nText\n\n    no", "item\n\n    of it\n\nText\n\n"),
        ("[laughing] Ha [1], [with a smile][excited] <|speaker:0|>You.", None),
        ("[open and [nested [deep] one", None),
        ("Hello\r\nthere\r\n\r\nEnd\r", "Hello\nthere\n\nEnd"),
    ],
)
def test_what_is_heard(text, words):
    assert heard(text) == (text if words is None else words)


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nHm, **what**?\n</think>\n\nWords.",
        "<THINK>a < b</think>Words.",
        "<thinking>a </think> b</thinking>Words.",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Words.",
        "<|channel>thought\nHm<channel|>Words.<|im_end|>",
        "<|think:start|>x<|think:end|>Words.",
    ],
)
def test_thoughts_are_not_heard(text):
    assert heard(text).replace("assistant", "").strip() == "Words."


def test_a_thought_that_the_prompt_has_opened():
    assert heard("Hm, what </think>\n\n# Words", thinking=True) == "Words"
    assert heard("Hm, a thought without end.", thinking=True) == ""


def test_a_sentence_comes_out_before_the_next_one_is_written():
    pieces = iter(["**Hello", " there.** ", "- And\n", "# T"])
    asked = []

    def writer():
        for piece in pieces:
            asked.append(piece)
            yield piece

    spoken = read_markdown(writer())
    assert next(spoken) == "Hello" and next(spoken) == " there. " and asked == ["**Hello", " there.** "]


WORDS = st.text("abcdeé語", min_size=1, max_size=6).filter(lambda w: not w.startswith(("h", "w")))
INLINE = st.one_of(
    WORDS,
    WORDS.map("*{}*".format),
    WORDS.map("**{}**".format),
    WORDS.map("~~{}~~".format),
    WORDS.map("`{}`".format),
    st.tuples(WORDS, WORDS).map(lambda w: "[{}](http://{})".format(*w)),
    st.tuples(WORDS, WORDS).map(lambda w: "![{}]({}.png)".format(*w)),
    WORDS.map("<b>{}</b>".format),
    WORDS.map("{}&amp;".format),
)
SENTENCE = st.lists(INLINE, min_size=1, max_size=6).map(" ".join)
BLOCK = st.one_of(
    SENTENCE,
    SENTENCE.map("## {}".format),
    st.lists(SENTENCE, min_size=1, max_size=3).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(SENTENCE, min_size=1, max_size=3).map(lambda lines: "\n".join(f"> {line}" for line in lines)),
    SENTENCE.map("```x\n{}\n```".format),
    st.lists(WORDS, min_size=2, max_size=2).map(lambda w: "| {} | {} |\n|---|---|\n| x | y |".format(*w)),
    st.just("***"),
)


def by_the_book(text):
    """The words as markdown-it reads them."""
    words = []
    for block in MarkdownIt("gfm-like", {"linkify": False}).parse(text):
        for token in block.children or ():
            words += re.findall(r"\w+", token.content if token.type in ("text", "code_inline", "image") else " ")
    return words


@settings(max_examples=150, deadline=None)
@given(st.lists(BLOCK, min_size=1, max_size=6).map("\n\n".join))
def test_the_words_are_those_of_a_reader_of_whole_texts(text):
    assert re.findall(r"\w+", heard(text)) == by_the_book(text)


@settings(max_examples=300, deadline=None)
@given(st.text("a h.1\\`*_~[]()!&<>#-+|:=/\n\r\t", max_size=60), st.booleans())
def test_pieces_of_any_size_give_the_same_words(text, thinking):
    heard(text, thinking=thinking)


@pytest.mark.parametrize("sign", ["[", "`", "<", "&", "*", "!", "\\", "![", "[a](", "|", "- ", "> ", "h", "`a", "<a "])
def test_long_nonsense_is_read_in_one_go(sign):
    began = time.process_time()
    for text in (sign * 20_000, (sign + "\n") * 5_000):
        for _ in read_markdown([text[i : i + 1000] for i in range(0, len(text), 1000)]):
            pass
    assert time.process_time() - began < 10  # squares of these lengths take minutes
