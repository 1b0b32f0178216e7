"""What can be told of a take without hearing it: how long its speech is, how loud, whether it will do."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.levels import Levels
from ..engine.protocols import Studio, TakeVerdict
from ..state.take_file import UnsavedTake

SHORTEST = 5.0  # seconds that are kept; less makes a worse voice


@dataclass(frozen=True)
class TakeFacts:
    """`speech`: where it lies, in seconds [begin, end), with a little around it; `pauses`: where nothing is said."""

    verdict: TakeVerdict
    speech: tuple[float, float]
    levels: Levels
    pauses: tuple[tuple[float, float], ...] = ()


def kept_seconds(take: UnsavedTake) -> float:
    """Of what is to become the voice."""
    return (len(take.samples) / take.rate if take.end is None else take.end) - take.begin


def look_at(studio: Studio, take: UnsavedTake) -> TakeFacts:
    """On a job's thread."""
    samples, rate = take.samples, take.rate
    return TakeFacts(
        studio.judge_take(samples, rate),
        studio.speech_in(samples, rate),
        studio.levels(samples, rate),
        tuple(studio.quiet_spans(samples, rate)),
    )
