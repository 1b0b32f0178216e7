"""Samples waiting in line: pieces come in at one end, are taken at the other, and a little of the past is kept for
going back. Knows neither time nor devices, and is not locked."""

from __future__ import annotations

from collections import deque

import numpy as np


class Line:
    """`total` samples came in, `cursor` were taken; indices count from the first sample ever."""

    def __init__(self):
        self._pieces: deque[np.ndarray] = deque()
        self._first = 0  # index of the oldest sample kept
        self._piece = 0  # the piece that holds the cursor
        self._piece_start = 0
        self.total = 0
        self.cursor = 0

    def __len__(self) -> int:
        """Samples not taken yet."""
        return self.total - self.cursor

    def append(self, samples: np.ndarray) -> None:
        if len(samples):
            self._pieces.append(samples)
            self.total += len(samples)

    def take(self, most: int) -> np.ndarray:
        """Up to `most` samples from the cursor on; empty when there are none."""
        parts, wanted = [], min(most, len(self))
        while wanted:
            piece = self._pieces[self._piece]
            part = piece[self.cursor - self._piece_start :][:wanted]
            parts.append(part)
            wanted -= len(part)
            self.cursor += len(part)
            if self.cursor == self._piece_start + len(piece):
                self._piece += 1
                self._piece_start += len(piece)
        if not parts:
            return np.zeros(0, np.float32)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def go_back_to(self, index: int) -> None:
        """Set the cursor to an earlier index that is still kept."""
        self.cursor = max(self._first, min(index, self.cursor))
        while self._piece_start > self.cursor:
            self._piece -= 1
            self._piece_start -= len(self._pieces[self._piece])

    def forget_before(self, index: int) -> None:
        """Free whole pieces that end at or before the index (and before the cursor)."""
        while self._piece and self._first + len(self._pieces[0]) <= index:
            self._first += len(self._pieces.popleft())
            self._piece -= 1

    def since(self, index: int) -> np.ndarray:
        """All samples kept from the index on, taken or not."""
        if not self._pieces:
            return np.zeros(0, np.float32)
        return np.concatenate(self._pieces)[max(0, index - self._first) :]
