"""How loud sounds are, and sounds made equally loud, so that they can be compared: the louder one seems better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

SILENCE = -120.0  # dBFS that silence reads as


@dataclass(frozen=True)
class Levels:
    """In dBFS: of the loud moments of speech, of the pauses, of the highest sample."""

    speech: float = SILENCE
    floor: float = SILENCE
    peak: float = SILENCE

    @property
    def words(self) -> str:
        if self.peak <= SILENCE:
            return "silence"
        named = ("speech", self.speech), ("pauses", self.floor), ("peak", self.peak)
        return " · ".join(f"{name} {level:.0f}" if level > SILENCE else f"no {name}" for name, level in named) + " dB"


def peak_db(samples: np.ndarray) -> float:
    """The highest sample of float32 [n] in dBFS."""
    top = float(abs(samples).max()) if len(samples) else 0.0
    return max(SILENCE, 20 * math.log10(top)) if top > 0 else SILENCE


def matched(speech: Sequence[float]) -> list[float]:
    """The factor for each of several sounds, whose speech has these levels in dBFS, that makes all as loud as the
    softest. None is raised, so none can clip; one that is silent counts for nothing."""
    heard = [level for level in speech if level > SILENCE]
    softest = min(heard, default=0.0)
    return [min(1.0, 10 ** ((softest - level) / 20)) if level > SILENCE else 1.0 for level in speech]
