"""Loudspeakers and microphones made of numbers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from s2mlx.audio.verdict import Take

RATE = 44100


class FakePlayer:
    """Plays `speed` times faster than real time; at 0 it stays where `position` is put, and so it does with an `error`
    from the beginning. `heard`: what it was given, piece by piece."""

    prebuffer, device_name, underruns = 0.5, "Built-in Output", 0

    def __init__(self, rate=RATE, device=None, *, speed: float = math.inf, error=None):
        self.rate, self.device, self.error, self.speed = rate, device, error, 0 if error else speed
        self.heard: list[np.ndarray] = []
        self.finished = self.stopped = self.closed = self.paused = False
        self.rtf = self.expected_seconds = None
        self._samples, self._start, self._at = 0, None, 0.0

    @property
    def queued(self) -> float:
        return self._samples / self.rate

    @property
    def position(self) -> float:
        if not self.speed or self.paused or self._start is None:
            return self._at
        if math.isinf(self.speed):
            return self.queued
        return min(self.queued, (time.monotonic() - self._start) * self.speed)

    @position.setter
    def position(self, seconds):
        self._at = seconds

    @property
    def lead(self) -> float:
        return self.queued - self.position

    def play(self, samples):
        self._start = self._start or time.monotonic()
        self._samples += len(samples)
        self.heard.append(samples)

    def set_rtf(self, rtf, expected_seconds=None):
        self.rtf, self.expected_seconds = rtf, expected_seconds

    def finish(self):
        self.finished = True

    def pause(self):
        self._at, self.paused = self.position, True

    def resume(self):
        self.paused = False

    def wait(self, timeout=None):
        if not self.error and not self.stopped and self.position < self.queued:
            time.sleep(min(timeout or 0.005, 0.005))
        return not self.error and (self.stopped or self.position >= self.queued)

    def unheard(self):
        return np.concatenate(self.heard)[round(self.position * self.rate) :]

    def stop(self):
        self.stopped = True

    def close(self):
        self.closed = True


@dataclass
class Loudspeakers:
    """Opens players as `audio.Player` does. `breaks`: an error that they have from the beginning."""

    speed: float = math.inf
    breaks: object = None
    made: list = field(default_factory=list)

    def __call__(self, rate, device=None):
        self.made.append(FakePlayer(rate, device, speed=self.speed, error=self.breaks))
        return self.made[-1]


class FakeRecorder:
    """Hears as much of `sound` as a test says with `hear`, and a part of it more at each look at the clock but the
    first; `error` is there once it has heard all of it."""

    silent, clipped = False, 0

    def __init__(self, sound, error: Exception | None = None, rate=RATE, device=None, per_look: float = 0.0):
        self.sound, self.rate, self.device, self._error, self._per_look = sound, rate, device, error, per_look
        self._seconds, self._looks, self.stopped = 0.0, 0, False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def hear(self, seconds):
        self._seconds = min(self._seconds + seconds, len(self.sound) / self.rate)

    @property
    def seconds(self) -> float:
        self._looks += 1
        if self._looks > 1:
            self.hear(self._per_look)
        return self._seconds

    @property
    def recording(self) -> bool:
        return not self.stopped and self._seconds < len(self.sound) / self.rate

    @property
    def error(self):
        return self._error if self._seconds >= len(self.sound) / self.rate else None

    @property
    def level(self):
        at = int(self._seconds * self.rate)
        block = self.sound[max(0, at - 8192) : at]
        peak = float(np.abs(block).max()) if len(block) else 0.0
        decibels = 20 * math.log10(peak) if peak else -120.0
        return SimpleNamespace(peak=decibels, rms=decibels - 6)

    def start(self):
        self.hear(0.5)

    def wait_ready(self):
        return self.error is None

    def recorded(self, begin=0):
        return self.sound[begin : int(self._seconds * self.rate)], self.rate

    def stop(self):
        self.stopped = True
        return Take.of(self.sound[: int(self._seconds * self.rate)], self.rate)


@dataclass
class Microphones:
    """Opens recorders as `audio.Recorder` does; each hears all of `sound` within so many looks (0: as a test
    says), and then comes to `error`."""

    sound: np.ndarray
    error: Exception | None = None
    looks: int = 4
    made: list = field(default_factory=list)

    def __call__(self, rate, device=None):
        per_look = len(self.sound) / rate / self.looks if self.looks else 0.0
        self.made.append(FakeRecorder(self.sound, self.error, rate, device, per_look))
        return self.made[-1]
