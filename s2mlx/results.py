"""What the engine gives back: pieces of sound as they are made, the whole, and how it came to an end."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .errors import GenerationError
from .options import Options

if TYPE_CHECKING:
    import numpy as np

    from .listen import Difference

# Why a pass ended: the model said so, the frame limit was reached, or the caller cancelled.
STOP, LENGTH, CANCELLED = "stop", "length", "cancelled"


def worst(reasons: Iterable[str]) -> str:
    """The finish reason of a whole: cancelled, then length, then stop. What never ended was cancelled."""
    return max(reasons, key=(STOP, LENGTH, CANCELLED).index, default=CANCELLED)


def ended_at_once(advice: str = "try another seed, or min_frames 20") -> GenerationError:
    """The error for speech without a single frame. advice: the knobs that help, as this way of asking calls them."""
    return GenerationError(f"the model ended the speech at once; {advice}")


def corrected(samples: np.ndarray, rate: int, options: Options) -> np.ndarray:
    """The samples of a whole, float32 [n] at `rate`, trimmed and normalized as the options ask."""
    from .audio.loudness import peak_normalize, trim_end

    if options.trim:
        samples = trim_end(samples, rate)
    return peak_normalize(samples) if options.normalize else samples


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
    peak_memory: int = 0  # bytes, as MLX counts them, and of weights that it does not count

    @property
    def rtf(self) -> float | None:
        """Real-time factor, wall time / audio time; below 1 is faster than real time."""
        return self.elapsed / self.audio_seconds if self.audio_seconds else None

    @property
    def making_rtf(self) -> float | None:
        """The same without the reading of the prompt, which comes once and before the sound: what a listener who waits
        for more has to expect."""
        return max(0.0, self.elapsed - self.prefill_seconds) / self.audio_seconds if self.audio_seconds else None


@dataclass(frozen=True)
class Hearing:
    """What a recognizer heard of a pass, beside what was to be said.

    words: how many were to be said; errors: how many of them were missing or others, and how many came besides;
    differences: where, in order. right: no more is wrong than a recognizer gets wrong itself. takes: how often the pass
    was spoken; what is told is of the one that was kept.
    """

    text: str
    words: int
    errors: int
    differences: tuple[Difference, ...] = ()
    right: bool = True
    takes: int = 1

    @property
    def word_error_rate(self) -> float:
        """Errors over the words wanted; above 1 where much was added."""
        return self.errors / max(1, self.words)


@dataclass(frozen=True)
class Pass:
    """One pass of a text through the model: which characters it spoke, how it ended, and what was heard of it if the
    request asked for a check."""

    index: int
    span: tuple[int, int]  # characters [begin, end) of the request's text
    frames: int
    finish_reason: str
    seconds: float = 0.0  # of sound, the pause after it included
    heard: Hearing | None = None


class Tally:
    """Counts the chunks of a request as they come: its passes so far, its figures, and how it ended."""

    def __init__(self) -> None:
        self.passes: list[Pass] = []
        self.stats = Stats()
        self.frames = 0
        self.seconds = 0.0
        self._pass_frames, self._pass_samples = 0, 0

    def add(self, chunk: AudioChunk) -> None:
        self.stats = chunk.stats
        self.frames += chunk.frames
        self.seconds += len(chunk.samples) / chunk.sample_rate
        self._pass_frames += chunk.frames
        self._pass_samples += len(chunk.samples)
        if chunk.finish_reason:
            seconds = self._pass_samples / chunk.sample_rate
            self.passes.append(
                Pass(chunk.part, chunk.span, self._pass_frames, chunk.finish_reason, seconds, chunk.heard)
            )
            self._pass_frames = self._pass_samples = 0
        elif chunk.heard is not None:
            self.passes = [replace(p, heard=chunk.heard) if p.index == chunk.part else p for p in self.passes]

    @property
    def finish_reason(self) -> str:
        """The worst of the passes that have ended."""
        return worst(one.finish_reason for one in self.passes)

    @property
    def wrong(self) -> list[Pass]:
        """The passes that were not heard as they are written, also in the best of their takes."""
        return [one for one in self.passes if one.heard is not None and not one.heard.right]

    @property
    def cut(self) -> list[Pass]:
        """The passes that the limit of frames, and not the model, has ended."""
        return [one for one in self.passes if one.finish_reason == LENGTH]


@dataclass(frozen=True)
class AudioChunk:
    """A piece of speech, in order.

    samples float32 [n]; codes int32 [num_codebooks, frames]; `part` of `parts` passes, speaking characters `span`;
    finish_reason is set on the last chunk of a pass only (that chunk may hold no samples). text: what the pass says.
    Of a text that is still being written, `span` counts from its beginning and `parts` are the passes so far.
    heard: what a check heard of the pass, on its last chunk; on one behind it, without samples, if a listener could not
    wait for the check. seed: of the pass; a request for its text alone, with this seed and the same voice, says it the
    same way.
    """

    samples: np.ndarray = field(repr=False)
    sample_rate: int
    codes: np.ndarray = field(repr=False)
    part: int
    parts: int
    span: tuple[int, int]
    stats: Stats
    finish_reason: str | None = None
    text: str = ""
    heard: Hearing | None = None
    seed: int = 0

    @property
    def frames(self) -> int:
        return int(self.codes.shape[1])


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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a WAV, FLAC, MP3 or OGG file (by the ending), whole or not at all."""
        from .audio import write_audio

        write_audio(path, self.samples, self.sample_rate)
