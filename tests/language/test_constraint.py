"""What a directed sentence may become: the sentence, and directions of the list before its words."""

import random

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mlx.language.constraint import DirectedSentence, OnlyDirections, words
from s2mlx.language.vocabulary import token_bytes

TAGS = ("whisper", "whispering", "pause", "long pause")
LETTERS = {bytes([byte]): [byte] for byte in range(256)}


@pytest.mark.parametrize(
    ("sentence", "marked"),
    [
        ("Hello there, Mr. Smith.", "^Hello ^there, ^Mr. ^Smith."),
        ("“Don't!” - she said …", "^“Don't!” - ^she ^said …"),
        ("[with a smile] Hello you [pause] and me", "[with a smile] Hello ^you [pause] and ^me"),
        ("<|speaker:0|>Hello <|speaker:1|> you", "<|speaker:0|>^Hello <|speaker:1|> ^you"),
        ("a[b]c f(x)", "^a[b]c ^f(x)"),
        ("これは本。 3 語", "^これは本。 ^3 ^語"),
        ("... - !", "... - !"),
    ],
)
def test_where_a_direction_may_stand(sentence, marked):
    assert "".join("^" * (i in words(sentence)) + letter for i, letter in enumerate(sentence)) == marked


def every_way(sentence, most, tags=("x", "xy")):
    """All that may be written."""
    found = set()

    def go(written):
        state = DirectedSentence(sentence, tags, most)
        for byte in written:
            state.write(bytes([byte]))
        if state.result:
            assert state.allowed(LETTERS) == [] and state.result[0] == written.decode()
            found.add(state.result)
            return
        for number in state.allowed(LETTERS):
            go(written + bytes([number]))

    go(b"")
    return found


def test_every_way_and_no_other():
    assert every_way("ab c", 2) == {
        ("ab c", 0),
        ("[x] ab c", 1),
        ("[xy] ab c", 1),
        ("ab [x] c", 1),
        ("ab [xy] c", 1),
        *{(f"[{a}] ab [{b}] c", 2) for a in ("x", "xy") for b in ("x", "xy")},
    }
    assert every_way("ab c", 0) == {("ab c", 0)}
    assert {added for _, added in every_way("a b c", 1)} == {0, 1}


def test_what_is_not_allowed_is_refused():
    state = DirectedSentence("Hello you", TAGS, 1)
    with pytest.raises(ValueError, match="not allowed"):
        state.write(b"Hullo")
    state.write(b"Hello")
    state.write(b" [whisper")
    with pytest.raises(ValueError, match="not allowed"):
        state.write(b"s")
    state.write(b"] you")
    assert state.result == ("Hello [whisper] you", 1)


def test_tokens_of_several_letters_may_cross_into_a_direction():
    tokens = {
        b"He": [1],
        b"llo": [2],
        b" [": [3],
        b" [long": [4],
        b" you": [5],
        b" yours": [6],
        b"Hello": [7],
        b"[": [8],
    }
    state = DirectedSentence("Hello you", TAGS, 1)
    assert state.allowed(tokens) == [1, 7, 8]
    state.write(b"Hello")
    assert state.allowed(tokens) == [3, 4, 5]
    state.write(b" [long")
    assert state.allowed({**tokens, b" pause] ": [9], b" pause]  ": [10]}) == [9]


TOKENS = {**LETTERS, **{word.encode(): [300 + i] for i, word in enumerate((" [", "] ", "pa", "use]", "ab", " b", "é"))}}


@settings(max_examples=200, deadline=None)
@given(
    st.text("ab é語.\n[]<|>(", min_size=1, max_size=20).map(str.strip).filter(bool), st.integers(0, 3), st.integers()
)
def test_whatever_is_drawn_the_sentence_comes_back(sentence, most, seed):
    draw, state, written = random.Random(seed), DirectedSentence(sentence, TAGS, most), b""
    writes = {number: token for token, [number] in TOKENS.items()}
    while state.result is None:
        token = writes[draw.choice(state.allowed(TOKENS))]
        state.write(token)
        written += token
    directed, added = state.result
    assert written.decode() == directed and added <= most
    bare = directed
    for tag in TAGS:
        bare = bare.replace(f"[{tag}] ", "")
    assert bare == sentence and len(directed) - len(bare) >= added * len("[pause] ")


def test_the_processor_leaves_only_what_is_allowed():
    state = DirectedSentence("ab", ("x",), 1)
    tokens = {b"a": [3], b"b": [4], b"[": [5], b"z": [6], b"ab": [70]}
    only = OnlyDirections(state, tokens, [1])
    logits = mx.arange(8, dtype=mx.float32)[None]
    first = np.array(only(mx.array([9, 9]), logits))
    assert np.flatnonzero(np.isfinite(first[0])).tolist() == [3, 5] and first[0, 5] == 5  # 70 is beyond the table
    second = np.array(only(mx.array([9, 9, 3]), logits))
    assert np.flatnonzero(np.isfinite(second[0])).tolist() == [4]
    for _ in range(2):  # mlx-lm asks once more behind the end
        third = np.array(only(mx.array([9, 9, 3, 4]) if not state.result else mx.array([9, 1]), logits))
        assert np.flatnonzero(np.isfinite(third[0])).tolist() == [1]
    assert state.result == ("ab", 0)


def test_a_tokenizer_without_a_word_s_letters_ends_the_writing():
    only = OnlyDirections(DirectedSentence("語", ("x",), 0), {b"a": [3]}, [1])
    assert np.flatnonzero(np.isfinite(np.array(only(mx.array([9]), mx.zeros((1, 8)))[0]))).tolist() == [1]


class _Tokenizer:
    def __init__(self, words, added=()):
        self._words, self._added = words, added

    def get_vocab(self):
        return {word: i for i, word in enumerate(self._words)}

    def get_added_vocab(self):
        return {word: self._words.index(word) for word in self._added}


def test_tokens_as_bytes():
    bytewise = _Tokenizer(["Hi", "Ġthere", "Ċ", "Ã©", "Ł", "<|end|>"], ["<|end|>"])
    assert token_bytes(bytewise) == {b"Hi": [0], b" there": [1], b"\n": [2], "é".encode(): [3], b"\x9f": [4]}
    pieces = _Tokenizer(["▁Hi", "Hi", "<0x0A>", "語", "▁", "</s>"], ["</s>"])
    assert token_bytes(pieces) == {b" Hi": [0], b"Hi": [1], b"\n": [2], "語".encode(): [3], b" ": [4]}
