"""Which sentence is being heard.

The engine says which characters each pass speaks; inside a pass the sentences share its time by their estimated
lengths, which is an estimate and serves highlighting only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass
class _Pass:
    span: Span
    begin: float  # seconds of the utterance
    seconds: float
    ended: bool = False


class SentenceFollower:
    """Maps a position of the playback to characters of the text."""

    def __init__(self, text: str, sentences: Sequence[Span], estimate: Callable[[str], float]):
        self._estimate = estimate
        self._sentences: list[tuple[Span, float]] = []  # and their estimated lengths
        self._passes: list[_Pass] = []
        self.grow(text, sentences)

    def grow(self, text: str, sentences: Sequence[Span], begin: int = 0) -> None:
        """More of the text, from character `begin` of the whole on, and its sentences as characters of itself."""
        for first, last in sentences:
            if words := text[first:last].strip():
                self._sentences.append(((begin + first, begin + last), max(0.05, self._estimate(words))))

    def heard(self, part: int, span: Span, seconds: float, ended: bool) -> None:
        """`seconds` more sound of pass `part` exist; `ended` with its last chunk."""
        while len(self._passes) <= part:
            begin = self._passes[-1].begin + self._passes[-1].seconds if self._passes else 0.0
            self._passes.append(_Pass(span, begin, 0.0))
        current = self._passes[part]
        current.seconds += seconds
        current.ended = ended

    def at(self, position: float) -> Span | None:
        """The sentence at `position` seconds; None before the first sound."""
        if not self._passes:
            return None
        where = bisect_right([p.begin for p in self._passes], position) - 1
        current = self._passes[max(0, where)]
        inside = [(s, c) for s, c in self._sentences if s[0] < current.span[1] and s[1] > current.span[0]]
        if not inside:
            return current.span
        expected = sum(cost for _, cost in inside)
        total = current.seconds if current.ended else max(current.seconds, expected)
        share = (position - current.begin) / total * expected if total else 0.0
        for span, cost in inside:
            share -= cost
            if share < 0:
                return span
        return inside[-1][0]
