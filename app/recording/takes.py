"""The takes of one sitting, the oldest first: one is in the hand, another is what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..state.take_file import UnsavedTake
from .take_facts import TakeFacts


@dataclass(frozen=True)
class JudgedTake:
    """`facts` are None until somebody has looked."""

    take: UnsavedTake
    facts: TakeFacts | None = None


class Takes:
    """The best of an earlier sitting is in the hand first, the newest without one."""

    def __init__(self, takes: Sequence[UnsavedTake] = ()):
        self.all = [JudgedTake(take) for take in takes]
        self.at = next((n for n, take in enumerate(takes) if take.best), len(takes) - 1)
        self._before: int | None = None  # the one that was in the hand before

    def __len__(self) -> int:
        return len(self.all)

    @property
    def in_hand(self) -> UnsavedTake:
        return self.all[self.at].take

    @property
    def facts(self) -> TakeFacts | None:
        """Of the one in the hand."""
        return self.all[self.at].facts

    @property
    def place(self) -> str:
        """Which one is in the hand, where there are several."""
        return f"take {self.at + 1} of {len(self)}: " if len(self) > 1 else ""

    @property
    def other(self) -> int | None:
        """What the one in the hand is compared with: the one that was there before, else the best, else its
        neighbour."""
        if self._before is not None and self._before != self.at:
            return self._before
        best = next((n for n, judged in enumerate(self.all) if judged.take.best and n != self.at), None)
        if best is not None:
            return best
        return None if len(self) < 2 else self.at - 1 if self.at else 1

    def add(self, take: UnsavedTake) -> None:
        """It is in the hand now."""
        self.all.append(JudgedTake(take))
        self.go(len(self) - 1)

    def go(self, to: int) -> None:
        """Take another one into the hand."""
        if to != self.at:
            self._before = self.at if 0 <= self.at < len(self) else None
            self.at = to

    def note(self, **changes: Any) -> None:
        """Something about the one in the hand has changed: its words, name or cut."""
        judged = self.all[self.at]
        self.all[self.at] = replace(judged, take=replace(judged.take, **changes))

    def judged(self, take: UnsavedTake, facts: TakeFacts) -> None:
        """Somebody has looked at it: its speech is what is kept of it, unless it has been cut already."""
        for number, judged in enumerate(self.all):
            if judged.take.samples is take.samples:
                begin, end = facts.speech
                cut = judged.take if judged.take.end is not None else replace(judged.take, begin=begin, end=end)
                self.all[number] = JudgedTake(cut, facts)

    def mark_best(self) -> bool:
        """The one in the hand is the best, or no longer. True when it is now."""
        best = not self.in_hand.best
        for number, judged in enumerate(self.all):
            chosen = best and number == self.at
            if judged.take.best != chosen:
                self.all[number] = replace(judged, take=replace(judged.take, best=chosen))
        return best

    def remove(self) -> UnsavedTake:
        """Let go of the one in the hand; the next one is there then, if there is any."""
        take = self.all.pop(self.at).take
        self.at = min(self.at, len(self) - 1)
        self._before = None
        return take
