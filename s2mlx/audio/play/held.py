"""How much of what was written an output device still holds, reckoned from the clock. Numbers only."""

from __future__ import annotations

from typing import NamedTuple

from ..hardware.backend import OutputStream


class Held:
    """The device takes its frames at `rate` from the first write on; its buffer is `latency` seconds long."""

    def __init__(self, rate: float, latency: float):
        self._rate, self._latency = rate, latency
        self._dry_at = self._speech_ends = 0.0  # clock: when everything, and when the last speech, has been heard

    def wrote(self, frames: int, speech: bool, before: float, now: float) -> None:
        """`frames` were taken by a write that began at `before` and returned at `now`."""
        full = now + self._latency
        if now - before > 0.5 * frames / self._rate:
            self._dry_at = full  # it had to wait for room: the buffer is full, and clocks that drift meet here
        else:
            self._dry_at = max(now, min(max(self._dry_at, before) + frames / self._rate, full))
        if speech:
            self._speech_ends = self._dry_at

    def dropped(self, now: float) -> None:
        """The device has thrown away what it held."""
        self._dry_at = self._speech_ends = now

    def seconds(self, now: float) -> float:
        """Until the device runs dry."""
        return max(0.0, self._dry_at - now)

    def speech_seconds(self, now: float) -> float:
        """Until the last speech written has been heard."""
        return max(0.0, self._speech_ends - now)


class Opened(NamedTuple):
    """The open device, and what it has been given and not sounded yet."""

    stream: OutputStream
    held: Held
