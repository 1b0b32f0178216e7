"""What playback and recording ask of a sound system: three small protocols. PortAudio is one such system
(portaudio.py); tests bring another with a clock of its own.

One thread drives a stream; only `interrupt` may be called from others.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...errors import DeviceError
from .devices import Device


class RateRefused(DeviceError):
    """The device exists but does not run at the rate that was asked for."""


class OutputStream(Protocol):
    """An open loudspeaker. It starts to sound with the first write."""

    latency: float  # s that the device's buffer holds: what has been written is heard at most so much later
    lead_in: float  # s of silence to send ahead of the speech when the device has been idle: what it swallows
    underflows: int  # times the device ran dry since it last started, as far as it tells

    def write(self, block: np.ndarray) -> int:
        """Queue float32 [n], waiting for room. Returns the frames taken: fewer than n only after `interrupt`.
        DeviceError when the device is gone or takes nothing for seconds."""
        ...

    def interrupt(self) -> None:
        """Any thread, never waits: a running write returns soon, the next abort follows."""

    def abort(self) -> None:
        """Drop what is queued and be silent at once; a later write starts again."""

    def close(self) -> None:
        """Give the device back, dropping what is queued. Never raises."""


class InputStream(Protocol):
    """An open microphone."""

    overflows: int  # times the device had to drop sound because nobody fetched it

    def read(self) -> np.ndarray:
        """The next float32 [n] (mono), waiting for it; empty after `interrupt`. DeviceError when the device is gone."""
        ...

    def interrupt(self) -> None:
        """Any thread, never waits: a running read returns soon."""

    def close(self) -> None:
        """Give the device back. Never raises."""


class Backend(Protocol):
    """A sound system: finds devices and opens streams. `clock` is seconds that only grow."""

    def clock(self) -> float: ...

    def find_output(self, query: int | str | None) -> Device: ...

    def find_input(self, query: int | str | None) -> Device: ...

    def open_output(self, device: Device, rate: float) -> OutputStream:
        """RateRefused when another rate would do, DeviceError otherwise."""
        ...

    def open_input(self, device: Device, rate: float) -> InputStream:
        """The same for a microphone."""
        ...
