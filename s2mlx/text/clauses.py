"""Where text bears a cut that nothing marks: before a word that opens a clause, before one that leads a phrase."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from .function_words import FUNCTION_WORDS, KOREAN_CLOSERS, UNSPACED_CLOSERS, UNSPACED_OPENERS, FunctionWords
from .marks import TAG

_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
# A word, or what stands for one, and the tags before it. A word ends at an apostrophe: "l'homme", "he's".
_STEP = regex.compile(rf"(?P<tags>(?:(?:{TAG.pattern})\s*)*)[^\w\s]*(?P<word>[\p{{L}}\p{{M}}]*)\S*\s*")
_OPENER = regex.compile(rf"(?<=[\p{{L}}\p{{M}}])(?={'|'.join(UNSPACED_OPENERS)})")
_CLOSER = regex.compile(rf"(?:{'|'.join(UNSPACED_CLOSERS)})(?=[\p{{Han}}\p{{Katakana}}])")
_PHRASE = regex.compile(r"(?<=\p{Hiragana})(?=[\p{Han}\p{Katakana}])")
_KOREAN = regex.compile(rf"(?:{'|'.join(KOREAN_CLOSERS)})\Z")
_NONE = FunctionWords(frozenset(), frozenset(), frozenset(), frozenset())
_ENOUGH = 2  # function words that make a language likely enough to cut by it


def shares(text: str) -> dict[str, float]:
    """Which part of the text's words each known language has among its small words; languages without any left out."""
    words = [word.casefold() for word in _WORD.findall(text)]
    found = {code: sum(word in known.all for word in words) for code, known in FUNCTION_WORDS.items()}
    return {code: count / len(words) for code, count in found.items() if count}


def clause_starts(text: str, begin: int, end: int) -> Iterator[int]:
    """Places within [begin, end) before which a clause ends though nothing marks it, in order."""
    yield from sorted({at for at, is_clause in _starts(text, begin, end) if is_clause})


def phrase_starts(text: str, begin: int, end: int) -> Iterator[int]:
    """Places within [begin, end) before a clause, or a few words that belong together, in order."""
    yield from sorted({at for at, _ in _starts(text, begin, end)})


def _starts(text: str, begin: int, end: int) -> Iterator[tuple[int, bool]]:
    """Places, and whether a clause begins there."""
    for found in _OPENER.finditer(text, begin, end):
        yield found.start(), True
    for found in _CLOSER.finditer(text, begin, end):
        yield found.end(), True
    for found in _PHRASE.finditer(text, begin, end):
        yield found.start(), False
    known = _language(text[begin:end])
    steps = [step for step in _STEP.finditer(text, begin, end) if step.end() > step.start()]
    words = [step["word"].casefold() for step in steps] + [""]
    for i in range(1, len(steps)):
        before, word, after = words[i - 1 : i + 2]
        if before in known.leads:
            continue  # it belongs to this one
        at = steps[i].start()
        if not text[at - 1].isspace():
            continue
        if word in known.openers or (word in known.joiners and after in known.all) or _KOREAN.search(before):
            yield at, True
        elif word in known.leads or steps[i]["tags"]:
            yield at, False


def _language(text: str) -> FunctionWords:
    found = shares(text)
    best = max(found, key=found.__getitem__, default=None)
    if best is None or found[best] * len(_WORD.findall(text)) < _ENOUGH:
        return _NONE
    return FUNCTION_WORDS[best]
