"""A level meter for a running microphone: what a bar on the screen shows, and what the whole take will be judged by.

Fed block by block; numbers only, no devices.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from .loudness import FLOOR_DB, decibel, peak, rms_db

CLIP = 0.999  # an amplitude that only a converter at its end gives
WINDOW = 0.1  # s behind the level: fast enough to follow syllables, slow enough to read
HOLD = 1.0  # s that the peak mark stays
_FLOOR_WINDOW = 20.0  # s of frames behind the noise floor


@dataclass(frozen=True)
class Level:
    """Level of the last tenth of a second: `peak` and `rms` in dBFS; `hold` is the highest peak of the last second."""

    peak: float = FLOOR_DB
    rms: float = FLOOR_DB
    hold: float = FLOOR_DB


class Meter:
    """Running figures of a stream of float32 blocks at `rate` Hz."""

    def __init__(self, rate: float):
        self.frames = 0
        self.clipped = 0  # samples at full scale
        self.zeros_only = True  # not one sample differed from zero so far
        self._rate = rate
        self._recent: deque[np.ndarray] = deque()
        self._recent_frames = 0
        self._peaks: deque[tuple[int, float]] = deque()  # (frame, amplitude)
        self._levels: deque[float] = deque(maxlen=round(_FLOOR_WINDOW / WINDOW))  # one per window
        self._since_level = 0

    def add(self, block: np.ndarray) -> None:
        if not len(block):
            return
        self.frames += len(block)
        self.clipped += int(np.count_nonzero(np.abs(block) >= CLIP))
        self.zeros_only = self.zeros_only and not block.any()
        self._recent.append(block)
        self._recent_frames += len(block)
        while self._recent_frames - len(self._recent[0]) >= WINDOW * self._rate:
            self._recent_frames -= len(self._recent.popleft())
        self._peaks.append((self.frames, peak(block)))
        while self._peaks[0][0] < self.frames - HOLD * self._rate:
            self._peaks.popleft()
        self._since_level += len(block)
        if self._since_level >= WINDOW * self._rate:
            self._since_level = 0
            self._levels.append(self.level.rms)

    @property
    def level(self) -> Level:
        if not self._recent:
            return Level()
        recent = np.concatenate(self._recent)[-max(1, round(WINDOW * self._rate)) :]
        return Level(decibel(peak(recent)), rms_db(recent), decibel(max(value for _, value in self._peaks)))

    @property
    def noise_floor(self) -> float:
        """dBFS of the quiet moments of the last 20 s (10th percentile of tenths of a second)."""
        return float(np.percentile(self._levels, 10)) if self._levels else FLOOR_DB
