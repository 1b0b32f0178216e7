"""Telling a device that hangs from a process that was itself asleep (Ctrl-Z, a debugger). Knows only a clock."""

from __future__ import annotations

from collections.abc import Callable

LIMIT = 4.0  # s without progress; streams that can tell give up by themselves after 3
CONFIRM = 0.5  # s in which a process that has just woken makes progress again


class Watchdog:
    """Asked now and then, by anyone who wants to know."""

    def __init__(self, clock: Callable[[], float], limit: float = LIMIT):
        self._clock, self._limit = clock, limit
        self._suspect: tuple[float, float] | None = None

    def hangs(self, progress: float | None) -> bool:
        """`progress`: when something last moved (None: nothing is being waited for). True when that was too long ago
        and has not changed since it was first found so."""
        now = self._clock()
        if progress is None or now - progress <= self._limit:
            self._suspect = None
        elif self._suspect is None or self._suspect[0] != progress:
            self._suspect = (progress, now)
        else:
            return now - self._suspect[1] >= CONFIRM
        return False
