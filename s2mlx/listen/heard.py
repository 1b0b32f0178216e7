"""What an ear makes of a sound: text, words with their times, the language, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeardWord:
    """A word as written by the recognizer, its signs with it; start, end: seconds from the begin of the sound.

    exact: the recognizer told the times. If not, the line's time was shared out by the words' lengths.
    """

    text: str
    start: float
    end: float
    exact: bool = False


@dataclass(frozen=True)
class Heard:
    """text: as one would write it, one line; language: a code such as "en".

    confidence: 0 to 1; None where the recognizer tells none and was not asked twice.
    """

    text: str
    words: tuple[HeardWord, ...] = ()
    language: str = "en"
    confidence: float | None = None


def shared_out(text: str, start: float, end: float) -> list[HeardWord]:
    """The words of a line that was said from `start` to `end`, each with a share of that time by its letters."""
    words = text.split()
    sizes = [len(word) + 1 for word in words]  # a space is short, and every word has one
    total, at, found = sum(sizes) or 1, start, []
    for word, size in zip(words, sizes):
        until = min(end, at + (end - start) * size / total)
        found.append(HeardWord(word, at, until))
        at = until
    return found
