"""Stage directions for a plain text, put in by a language model that cannot change a word of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import regex

from ..text import DIRECTIONS, has_words, split_sentences
from ..worker import KeepGoing, Worker
from .constraint import DirectedSentence, OnlyDirections
from .find import find_language_model

if TYPE_CHECKING:
    from .model import LanguageModel, Message

_WORDS_EACH = 6  # of a sentence, for one direction more
_BEFORE = 400  # characters of what precedes that the model is shown
_TASK = """\
You direct an actor who reads a text aloud. You get one sentence at a time, and what precedes it. Write the sentence \
again word for word, and put a stage direction in square brackets before the word from which on the voice is to \
change. Use one only where the text itself calls for it: most sentences need none. The stage directions are: {tags}."""
_EXAMPLES = (
    ("The train left at nine.", "The train left at nine."),
    ("“Don't wake him,” she breathed.", "[whispering] “Don't wake him,” she breathed."),
    ("He looked at the bill and burst out laughing.", "He looked at the bill and [laughing] burst out laughing."),
    ("We won! We really won!", "[excited] We won! We really won!"),
)


@dataclass(frozen=True)
class Directed:
    """A sentence: characters [begin, end) of the text, what became of them, and how many directions were added."""

    begin: int
    end: int
    text: str
    added: int


def direct(
    text: str,
    model: str | None = None,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    cancel: threading.Event | None = None,
) -> str:
    """The text with stage directions such as `[whispering]`; without those that were added it is the text, character
    for character.

    model: a folder of mlx-lm, or `owner/repo` in the Hugging Face cache; None is the usual one. on_progress(characters
    read, characters in all) is called on the calling thread, once before the first sentence. cancel: set it to stop
    soon; what follows stays as it was. Raises `UsageError` without mlx-lm, `ModelError` for a model that is absent or
    cannot be read.
    """
    done, end = [], 0
    if on_progress is not None:
        on_progress(0, len(text))
    for one in direct_sentences(text, model, cancel=cancel):
        done.append(one.text)
        end = one.end
        if on_progress is not None:
            on_progress(end, len(text))
    return "".join(done) + text[end:]


def direct_sentences(
    text: str, model: str | None = None, *, cancel: threading.Event | None = None
) -> Iterator[Directed]:
    """The same sentence by sentence, in order; spans follow each other from the text's beginning on. Closing the
    iterator ends the work."""
    path = find_language_model(model)
    worker = Worker("language model")
    try:
        yield from worker.stream(lambda keep_going: _directed(text, path, keep_going), cancel)
    finally:
        worker.close()


def undirected(text: str) -> str:
    """The text without every direction of the list, those that its author wrote too."""
    bare: str = _DIRECTION.sub("", text)
    return bare


_DIRECTION = regex.compile(rf"\[(?:{'|'.join(DIRECTIONS)})\] ?")


def _directed(text: str, path: Path, keep_going: KeepGoing) -> Iterator[Directed]:
    """On the thread of the model: load it, then one sentence after the other."""
    from .model import LanguageModel

    if not has_words(text, tags=False):
        return
    model = LanguageModel(path)
    for begin, end in split_sentences(text):
        sentence = text[begin:end].strip()
        found = None
        if has_words(sentence, tags=False):
            found = _direct_one(model, text[max(0, begin - _BEFORE) : begin].strip(), sentence, keep_going)
        if not keep_going():
            return
        words, added = found or (sentence, 0)
        yield Directed(begin, end, text[begin:end].replace(sentence, words, 1) if sentence else text[begin:end], added)


def _direct_one(model: LanguageModel, before: str, sentence: str, keep_going: KeepGoing) -> tuple[str, int] | None:
    """The sentence directed, and the number of directions; None where the model did not get to its end, or where what
    it wrote is not this sentence with directions in it."""
    most = 1 + len(sentence.split()) // _WORDS_EACH
    state = DirectedSentence(sentence, DIRECTIONS, most)
    longest = len(sentence.encode()) + most * (max(map(len, DIRECTIONS)) + 3) + 1  # a token writes a byte or more
    for _ in model.write(
        _messages(before, sentence),
        max_tokens=longest,
        constraint=OnlyDirections(state, model.tokens, model.ends),
        keep_going=keep_going,
    ):
        pass
    if state.result is None or undirected(state.result[0]) != undirected(sentence):
        return None
    return state.result


def _messages(before: str, sentence: str) -> list[Message]:
    tags = ", ".join(f"[{tag}]" for tag in DIRECTIONS)
    messages = [{"role": "system", "content": _TASK.format(tags=tags)}]
    for plain, directed in _EXAMPLES:
        messages += [{"role": "user", "content": f"Sentence: {plain}"}, {"role": "assistant", "content": directed}]
    context = f"What precedes: {before}\n\n" if before else ""
    return [*messages, {"role": "user", "content": f"{context}Sentence: {sentence}"}]
