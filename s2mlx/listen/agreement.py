"""Whether what was heard is what was to be said, or more is wrong than recognizers get wrong themselves.

The bounds are learned: `python -m tests.listen.learn_agreement` speaks sentences with the bundled voice, right ones and
broken ones, and prints how many the bounds catch. Letters are counted, not words: a recognizer that mishears gives
other words of about the same length, while speech that skips or repeats changes the length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .comparing import Comparison, Difference

RUN = 4  # letters in a row that are missing, or that came besides
TWICE = 2  # letters said twice in a row
SHORTER, LONGER = 7, 8  # letters that other words are fewer or more than those they stand for
GARBLED = 0.5  # of all letters, those that are others


def wrong(compared: Comparison, text: str) -> tuple[Difference, ...]:
    """The differences that are the speech's fault; empty if it agrees with `text`, the one that was wanted."""
    found = tuple(difference for difference in compared.differences if _is_wrong(difference))
    if found or not compared.differences:
        return found
    others = sum(distance(letters(d.wanted), letters(d.heard)) for d in compared.differences)
    return compared.differences if others >= GARBLED * len(letters(text)) else ()


def _is_wrong(difference: Difference) -> bool:
    wanted, heard = len(letters(difference.wanted)), len(letters(difference.heard))
    if difference.kind == "instead":
        return wanted - heard >= SHORTER or heard - wanted >= LONGER
    return max(wanted, heard) >= (TWICE if difference.kind == "doubled" else RUN)


def letters(text: str) -> str:
    """Letters and digits alone, without capitals."""
    return "".join(character for character in text.casefold() if character.isalnum())


def distance(a: str, b: str) -> int:
    """Letters to change, add or take away that make one the other (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, diagonal + (x != y))
    return row[-1]
