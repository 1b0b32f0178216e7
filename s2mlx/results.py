"""What the engine gives back: pieces of sound as they are made, and the whole. Data only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

# Why a pass ended: the model said so, the frame limit was reached, or the caller cancelled.
STOP, LENGTH, CANCELLED = "stop", "length", "cancelled"


@dataclass(frozen=True)
class Stats:
    """Figures of a request so far. Seconds are wall time unless the name says audio."""

    seed: int = 0
    frames: int = 0
    audio_seconds: float = 0.0
    elapsed: float = 0.0  # since the request began to be served
    first_audio: float | None = None  # time to first audio
    prefill_seconds: float = 0.0
    prompt_tokens: int = 0
    peak_memory: int = 0  # bytes, as MLX counts them

    @property
    def rtf(self) -> float | None:
        """Real-time factor, wall time / audio time; below 1 is faster than real time."""
        return self.elapsed / self.audio_seconds if self.audio_seconds else None


@dataclass(frozen=True)
class Pass:
    """One pass of a text through the model: which characters it spoke and how it ended."""

    index: int
    span: tuple[int, int]  # characters [begin, end) of the request's text
    frames: int
    finish_reason: str


@dataclass(frozen=True)
class AudioChunk:
    """A piece of speech, in order.

    samples float32 [n]; codes int32 [num_codebooks, frames]; `part` of `parts` passes, speaking characters `span`;
    finish_reason is set on the last chunk of a pass only (that chunk may hold no samples).
    """

    samples: np.ndarray = field(repr=False)
    sample_rate: int
    codes: np.ndarray = field(repr=False)
    part: int
    parts: int
    span: tuple[int, int]
    stats: Stats
    finish_reason: str | None = None

    @property
    def frames(self) -> int:
        return self.codes.shape[1]


@dataclass(frozen=True)
class Audio:
    """A finished utterance: samples float32 [n] in [-1, 1], codes int32 [num_codebooks, frames].

    finish_reason is the worst of the passes' (cancelled, then length, then stop)."""

    samples: np.ndarray = field(repr=False)
    sample_rate: int
    codes: np.ndarray = field(repr=False)
    finish_reason: str
    passes: list[Pass] = field(default_factory=list)
    stats: Stats = Stats()

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate

    def save(self, path) -> None:
        """Write a WAV, FLAC, MP3 or OGG file (by the ending), whole or not at all."""
        from .audio.files import write_audio

        write_audio(path, self.samples, self.sample_rate)
