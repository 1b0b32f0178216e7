"""A text as words that can be compared: "It's 7:30" and "it is seven thirty" come to the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex

from ..errors import EarError
from ..text.marks import TAG

_TOKEN = regex.compile(
    r"[$£€¢]?\d[\d,]*(?:\.\d+)?(?:st|nd|rd|th|s)?%?(?![\p{L}])|\d+"
    r"|[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*|[&+=@%]"
)
_ALONE = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
)  # written without spaces
_SIGNS = {"&": "and", "+": "plus", "=": "equals", "@": "at", "%": "percent"}
_WITHIN = {"and", "point", "a"}  # within a number, not at its ends
_DIGITS = frozenset("zero one two three four five six seven eight nine".split())


@dataclass(frozen=True)
class SpelledWord:
    """A word to compare. begin, end: the characters of the text that it comes from, shared by the words of "isn't"."""

    text: str
    begin: int
    end: int


def spelled(text: str, language: str = "en") -> list[SpelledWord]:
    """The words of a text, tags aside: without signs and capitals; English with numbers in digits, contractions
    written out, American spelling (whisper-normalizer), hesitations left out. Scripts without spaces: a character each.
    """
    text = TAG.sub(lambda tag: " " * len(tag.group()), text)
    if language.partition("-")[0] != "en":
        return [*_others(text)]
    normalize, numbers = _english()
    tokens = list(_TOKEN.finditer(text))
    found, at = [], 0
    while at < len(tokens):
        until = _number(tokens, at, numbers) or at + 1
        begin, end = tokens[at].start(), tokens[until - 1].end()
        raw = " ".join(_SIGNS.get(token.group(), token.group()) for token in tokens[at:until]).replace("’", "'")
        found += [SpelledWord(word, begin, end) for word in normalize(raw).split()]
        at = until
    return found


def _number(tokens: list[Any], at: int, numbers: frozenset[str]) -> int:
    """Where a number of several tokens that begins at `at` ends; 0 if there is none. Digits in a row are counting."""
    last = 0
    for i in range(at, len(tokens)):
        word = tokens[i].group().lower()
        if word in numbers or word[-1:].isdigit():
            last = i + 1
        elif i == at or word not in _WITHIN:
            break
    counting = all(token.group().lower() in _DIGITS for token in tokens[at:last])
    return 0 if counting else last


def _others(text: str) -> Iterator[SpelledWord]:
    for word in regex.finditer(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*", text):
        at = word.start()
        for part in regex.split(rf"({_ALONE.pattern}\p{{M}}*)", word.group()):
            if part:
                plain = unicodedata.normalize("NFKC", part).casefold().replace("’", "'")
                yield SpelledWord(plain, at, at + len(part))
            at += len(part)


@cache
def _english() -> tuple[Callable[[str], str], frozenset[str]]:
    """The library's rules, and the words that numbers are made of."""
    try:
        from whisper_normalizer.english import EnglishTextNormalizer
    except ImportError:
        raise EarError('comparing words needs whisper-normalizer: pip install "s2mlx[ear]"') from None
    rules = EnglishTextNormalizer()
    numbers = rules.standardize_numbers.words - _WITHIN - {"second", "o", "oh", "per", "cent", "double", "triple"}
    return rules, frozenset(numbers)
