"""Is a clip good enough to clone a voice from? Plain words for whoever recorded it. Numbers in, sentences out."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import numpy as np

from .loudness import SHORT_FRAME, frame_levels, noise_floor_db, speech_db
from .meter import CLIP

BEST_SECONDS = (5.0, 30.0)
LEAST_SECONDS = 3.0
QUIET_DB, INAUDIBLE_DB = -35.0, -50.0  # level of the loud moments of speech; close talk is about -20
NOISE_GAP_DB = 18.0  # speech must stand so far above the pauses
CLIPPED_SHARE = 2e-5  # about one sample a second; single full-scale samples are not heard
KEEP_START, KEEP_END = 0.1, 0.3  # s around the speech; a tight cut at the end swallows the last word
_SPEECH_RUN = 3  # frames in a row: a click of a key is shorter than any syllable


@dataclass(frozen=True)
class Take:
    """A clip as recorded: samples float32 [n] at `rate` Hz.

    clipped: samples that the converter cut off; overflows: times that the machine was too slow to fetch sound;
    error: why the recording ended by itself, if it did.
    """

    samples: np.ndarray
    rate: int
    clipped: int = 0
    zeros_only: bool = False
    overflows: int = 0
    error: str | None = None

    @classmethod
    def of(cls, samples, rate: int) -> Take:
        """A take from samples that come from elsewhere, a file perhaps."""
        samples = np.asarray(samples, dtype=np.float32)
        return cls(samples, rate, int(np.count_nonzero(np.abs(samples) >= CLIP)), not samples.any())

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    @property
    def speech_db(self) -> float:
        return speech_db(self.samples, self.rate)

    @property
    def noise_floor_db(self) -> float:
        return noise_floor_db(self.samples, self.rate)


@dataclass(frozen=True)
class Verdict:
    """`problems`: one line each, worst first. `usable`: none of them forbids the clip; `ok`: there are none at all."""

    usable: bool
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


def check(take: Take, platform: str = sys.platform) -> Verdict:
    """Judge a take as a reference."""
    if not len(take.samples):
        return Verdict(False, ["nothing was recorded"])
    if take.zeros_only:
        return Verdict(False, [silence_hint(platform)])
    begin, end = speech_span(take.samples, take.rate)
    seconds, level, floor = (end - begin) / take.rate, take.speech_db, take.noise_floor_db
    refused, doubts = [], []
    if level < INAUDIBLE_DB:
        refused.append(f"hardly anything is to be heard ({level:.0f} dB): move closer or raise the input level")
    elif level < QUIET_DB:
        doubts.append(f"too quiet ({level:.0f} dB): move closer or raise the input level")
    if seconds < LEAST_SECONDS:
        refused.append(f"too short: {seconds:.1f} s of speech; read {BEST_SECONDS[0]:.0f} to {BEST_SECONDS[1]:.0f} s")
    elif seconds < BEST_SECONDS[0]:
        doubts.append(f"a little short: {seconds:.1f} s of speech; from {BEST_SECONDS[0]:.0f} s on the voice is closer")
    elif seconds > BEST_SECONDS[1]:
        doubts.append(f"longer than needed: {seconds:.0f} s of speech; {BEST_SECONDS[1]:.0f} s at most are right")
    if take.clipped > max(2, CLIPPED_SHARE * len(take.samples)):
        doubts.append(f"clipped {take.clipped} times: move back or lower the input level")
    if level >= INAUDIBLE_DB and level - floor < NOISE_GAP_DB:
        above = max(0.0, level - floor)
        doubts.append(f"noisy: speech is only {above:.0f} dB above the background; find a quieter place")
    if take.overflows:
        doubts.append(f"{take.overflows} gaps: the machine was too busy to record; close other programs")
    if take.error:
        doubts.append(f"it ended early: {take.error}")
    return Verdict(not refused, refused + doubts)


def trim(take: Take) -> Take:
    """The speech with a little of what surrounds it: 0.1 s before, 0.3 s after (filled up with silence if the recording
    ended sooner). A take without speech stays as it is."""
    begin, end = speech_span(take.samples, take.rate)
    if begin == end:
        return take
    start, stop = max(0, begin - round(KEEP_START * take.rate)), end + round(KEEP_END * take.rate)
    samples = take.samples[start:stop]
    missing = stop - max(len(take.samples), start)
    if missing > 0:
        samples = np.concatenate([samples, np.zeros(missing, np.float32)])
    return Take(samples, take.rate, take.clipped, take.zeros_only, take.overflows, take.error)


def silence_hint(platform: str = sys.platform) -> str:
    """What to do when a microphone gives nothing but zeros."""
    if platform == "darwin":
        return (
            "the microphone gives only zeros: allow this terminal in System Settings > Privacy & Security > "
            "Microphone, then start the terminal again"
        )
    return (
        "the microphone gives only zeros: it is muted, or recording is not permitted (on macOS: System Settings > "
        "Privacy & Security > Microphone)"
    )


def speech_span(samples: np.ndarray, rate: int) -> tuple[int, int]:
    """[begin, end) in samples from the first to the last syllable; (0, 0) if there is none."""
    levels = frame_levels(samples, rate)
    if not len(levels):
        return 0, 0
    floor, loud = noise_floor_db(samples, rate), speech_db(samples, rate)
    # A third of the way up from the pauses to the speech finds soft endings, and still ignores a steady hum.
    above = levels > max(floor + (loud - floor) / 3, loud - 40, INAUDIBLE_DB - 20)
    runs = np.convolve(above, np.ones(_SPEECH_RUN), "valid") == _SPEECH_RUN
    found = np.flatnonzero(runs)
    if not len(found):
        return 0, 0
    size = max(1, round(SHORT_FRAME * rate))
    return int(found[0]) * size, min(len(samples), (int(found[-1]) + _SPEECH_RUN) * size)
