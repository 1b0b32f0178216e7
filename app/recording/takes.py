"""The takes of one sitting, the oldest first, with one of them in the hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..state.take_file import UnsavedTake


class Takes:
    def __init__(self, takes: Sequence[UnsavedTake] = ()):
        self._all = list(takes)
        self._at = len(self._all) - 1

    def __len__(self) -> int:
        return len(self._all)

    @property
    def in_hand(self) -> UnsavedTake:
        return self._all[self._at]

    @property
    def place(self) -> str:
        """Which one is in the hand, where there are several."""
        return f"take {self._at + 1} of {len(self)} (PgUp, PgDn): " if len(self) > 1 else ""

    def add(self, take: UnsavedTake) -> None:
        """It is in the hand now."""
        self._all.append(take)
        self._at = len(self._all) - 1

    def step(self, by: int) -> None:
        self._at = (self._at + by) % len(self._all)

    def noted(self, words: str, name: str) -> list[UnsavedTake]:
        """All of them, the one in the hand with these words and this name."""
        if self._all:
            self._all[self._at] = replace(self.in_hand, transcript=words, name=name)
        return list(self._all)
