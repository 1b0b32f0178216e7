"""Streams on real devices, through sounddevice's blocking interface.

PortAudio's own blocking calls wait for ever when a device goes away (on macOS the wait has no other end). So nothing
here calls them before there is room or data: waiting happens on our side, where it can be interrupted and given up.
"""

from __future__ import annotations

import threading
import time

import numpy as np

from ...errors import DeviceError
from . import devices
from .backend import RateRefused
from .devices import Device

LATENCY = 0.08  # s asked for: rides out a pause of the interpreter, yet is over within 0.1 s if not dropped
LEAD_IN = 0.04  # s; sound servers and amplifiers lose the first 20 ms of a flow (measured with PulseAudio)
GIVE_UP = 3.0  # s without any progress: the device is gone, though nobody said so
_POLL = 0.004  # s
_BLOCK_SECONDS = 0.02
_OTHER = "or name another device (`s2mlx devices` lists them)"
_REFUSED = f"the system refuses it: close what else may use it, plug it in again, {_OTHER}"
_MEANINGS = {  # of PortAudio's words that tell its authors more than its users
    "Unanticipated host error": _REFUSED,
    "Internal PortAudio error": _REFUSED,
    "Device unavailable": f"another program holds it, or it is gone: close that program, plug it in again, {_OTHER}",
    "Invalid device": f"it is gone: plug it in again, {_OTHER}",
    "Stream is stopped": f"it was stopped from outside: plug it in again, {_OTHER}",
    "Invalid number of channels": f"it takes no sound of one or two channels: {_OTHER.removeprefix('or ')}",
}


class PortAudio:
    """The backend of real machines."""

    clock = staticmethod(time.monotonic)
    find_output = staticmethod(devices.find_output)
    find_input = staticmethod(devices.find_input)

    def open_output(self, device: Device, rate: float) -> _Output:
        sd = devices.sounddevice()
        # Both ears: some systems put a one-channel stream on the left side only.
        channels = min(2, device.outputs)
        return _Output(device, channels, _open(sd, sd.OutputStream, device, rate, channels, LATENCY))

    def open_input(self, device: Device, rate: float) -> _Input:
        sd = devices.sounddevice()
        # The first two channels at most: a stereo microphone is mixed, the other inputs of an interface are not.
        channels = min(2, device.inputs)
        return _Input(device, rate, _open(sd, sd.InputStream, device, rate, channels, "high"))


def _open(sd, kind, device: Device, rate: float, channels: int, latency):
    devices.stream_opens()
    try:
        return kind(samplerate=rate, device=device.index, channels=channels, dtype="float32", latency=latency)
    except sd.PortAudioError as error:
        devices.stream_closed()
        if rate != device.default_rate and "sample rate" in str(error).lower():
            raise RateRefused(f"{device.name} does not run at {rate:g} Hz") from None
        raise DeviceError(f"cannot open {device.name}: {_text(error)}") from None


class _Stream:
    """What both directions share: a start on demand, a wait that ends, a close that does not complain."""

    def __init__(self, device: Device, stream):
        self._device, self._stream = device, stream
        self._fresh = True
        self._sd = devices.sounddevice()
        self._interrupted = threading.Event()

    def interrupt(self) -> None:
        self._interrupted.set()

    def close(self) -> None:
        self._stream.close(ignore_errors=True)
        devices.stream_closed()

    def _call(self, function, *arguments):
        try:
            return function(*arguments)
        except self._sd.PortAudioError as error:
            raise DeviceError(f"{self._device.name} failed: {_text(error)}") from None

    def _available(self, name: str) -> int:
        """Frames that can be moved now, waiting for at least one; 0 after an interrupt."""
        if not self._stream.active:
            self._call(self._stream.start)
            self._fresh = True
        # Looks are counted, not seconds: a process that was suspended must not blame the device.
        for _ in range(round(GIVE_UP / _POLL)):
            if self._interrupted.is_set():
                return 0
            count = self._call(getattr, self._stream, name)
            if count > 0:
                return count
            self._interrupted.wait(_POLL)
        raise DeviceError(f"{self._device.name} has stopped: no answer for {GIVE_UP:.0f} s; plug it in again, {_OTHER}")


class _Output(_Stream):
    def __init__(self, device: Device, channels: int, stream):
        super().__init__(device, stream)
        self._channels = channels
        self.latency = float(stream.latency)
        self.lead_in = LEAD_IN
        self.underflows = 0

    def write(self, block: np.ndarray) -> int:
        done = 0
        while done < len(block) and (room := self._available("write_available")):
            piece = block[done : done + room]
            fresh = self._fresh
            self._fresh = False
            flagged = self._call(self._stream.write, np.repeat(piece[:, None], self._channels, axis=1))
            self.underflows += bool(flagged and not fresh)  # a stream that has just started is dry by nature
            done += len(piece)
        return done

    def abort(self) -> None:
        if self._stream.active:
            self._call(self._stream.abort)
        self._interrupted.clear()


class _Input(_Stream):
    def __init__(self, device: Device, rate: float, stream):
        super().__init__(device, stream)
        self._most = max(1, round(_BLOCK_SECONDS * rate))
        self.overflows = 0

    def read(self) -> np.ndarray:
        count = min(self._available("read_available"), self._most)
        if not count:
            return np.zeros(0, np.float32)
        data, overflowed = self._call(self._stream.read, count)
        self.overflows += bool(overflowed)
        return data.mean(axis=1, dtype=np.float32)


def _text(error) -> str:
    """What PortAudio says, in words that say what to do where its own do not."""
    said = str(error.args[0]).rpartition("Stream: ")[2]  # "Error opening OutputStream: ..."
    for words, meaning in _MEANINGS.items():
        if words in said:
            return meaning
    return said
