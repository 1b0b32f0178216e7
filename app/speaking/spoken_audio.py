"""What is to be said, and the sound that was made of it so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from s2mlx.options import Options
from s2mlx.results import CANCELLED, AudioChunk, Stats

if TYPE_CHECKING:
    import numpy as np

STEADY = 2.0  # seconds of sound after the first, from which the pace of the making can be told


class Within(NamedTuple):
    """Where a text stands in a longer one that it is a part of: it begins at character `at` of `whole`."""

    whole: str
    at: int


@dataclass(frozen=True)
class Script:
    """What is to be said, by the voices of these names (speaker 0, 1, ...; none: the model's own). `within`: what it
    is a part of."""

    text: str
    names: tuple[str, ...] = ()
    options: Options = Options()
    within: Within | None = None


@dataclass
class SpokenAudio:
    """The sound of a script so far: samples float32 [n], codes int32 [num_codebooks, frames]; sound that was there
    before has no codes."""

    script: Script
    rate: int
    samples: list[np.ndarray] = field(default_factory=list)
    codes: list[np.ndarray] = field(default_factory=list)
    stats: Stats = Stats()
    first: Stats | None = None  # with the first sound
    finish_reason: str = CANCELLED
    when: str = ""  # local time at which the making began, ISO

    def add(self, chunk: AudioChunk) -> None:
        self.samples.append(chunk.samples)
        if chunk.frames:
            self.codes.append(chunk.codes)
        self.stats = chunk.stats
        if self.first is None and chunk.stats.audio_seconds:
            self.first = chunk.stats

    @property
    def pace(self) -> float | None:
        """Wall time / audio time since the first sound; None while there is too little of it to tell. The reading of
        the prompt is in the time to first audio, and says nothing of whether the sound will keep up."""
        if self.first is None or self.stats.audio_seconds < self.first.audio_seconds + STEADY:
            return None
        return (self.stats.elapsed - self.first.elapsed) / (self.stats.audio_seconds - self.first.audio_seconds)

    @property
    def making(self) -> float:
        """Seconds since the first sound was there, by the clock of the making."""
        return self.stats.elapsed - self.first.elapsed if self.first else 0.0

    @property
    def factor(self) -> float | None:
        """The pace; of what is too short to have one and is complete, that of the whole."""
        return self.stats.making_rtf if self.pace is None else self.pace

    def whole(self) -> np.ndarray:
        """All samples as one array; joined once."""
        import numpy as np

        if len(self.samples) != 1:
            self.samples = [np.concatenate(self.samples) if self.samples else np.zeros(0, np.float32)]
        return self.samples[0]

    @property
    def has_codes(self) -> bool:
        """Of all that sounds."""
        return sum(codes.shape[1] for codes in self.codes) == self.stats.frames

    def all_codes(self) -> np.ndarray:
        import numpy as np

        return np.concatenate(self.codes, axis=1) if self.codes else np.zeros((0, 0), np.int32)
