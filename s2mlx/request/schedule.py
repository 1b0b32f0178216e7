"""How many frames go into the next piece of sound.

The first piece is one frame, so that sound starts at once. Every decode has a fixed cost, so later pieces grow: with
the sound that a player still has (half of it is spent on the next piece, half stays as reserve), or, when nobody tells,
by doubling. A piece is a power of two: every other size would have kernels compiled for it while the sound plays. Knows
seconds and frames only.
"""

from __future__ import annotations

from collections.abc import Callable

MOST_FRAMES = 16  # 0.74 s: beyond that, the fixed cost of a decode no longer shows
PIECES = (1, 2, 4, 8, MOST_FRAMES)  # the only sizes there are


class Schedule:
    def __init__(self, frame_seconds: float, lead: Callable[[], float] | None = None):
        """lead() -> seconds of sound the listener still has."""
        self._frame_seconds, self._lead, self._last = frame_seconds, lead, 0

    def take(self, waiting: int) -> int:
        """How many of the `waiting` frames the next piece has; 0 while there should be more of them."""
        if waiting < self._target():
            return 0
        self._last = largest_piece(waiting)
        return self._last

    def _target(self) -> int:
        if self._last == 0:
            return 1
        frames = min(2 * self._last, MOST_FRAMES)
        if self._lead is not None:
            frames = max(1, int(min(frames, self._lead() / 2 / self._frame_seconds)))
        return largest_piece(frames)


def largest_piece(frames: int) -> int:
    """The largest of PIECES that so many frames, at least one, fill."""
    return max(size for size in PIECES if size <= frames)
