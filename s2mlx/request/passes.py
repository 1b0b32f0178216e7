"""A text as the list of passes the model makes over it. Knows words and speakers, no tokens."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UsageError
from ..text import split_passes

# The seed of pass i is the request's plus i times this (2^64 / golden ratio): far apart, and pass 0 keeps its own.
_SEED_STRIDE = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class PlannedPass:
    """One pass: `text` is what the model is given, `span` where it stands in the request's text."""

    index: int
    text: str
    span: tuple[int, int]
    pause_after: bool
    speaker: int | None

    def seed(self, request_seed: int) -> int:
        return (request_seed + self.index * _SEED_STRIDE) % 2**64


def plan_passes(text: str, max_seconds: float = 30.0) -> list[PlannedPass]:
    """Passes in order, of at most about so many seconds of speech, those without a word left out."""
    spans = split_passes(text, max_seconds)
    worded = [s for s in spans if text[s.begin : s.end].strip()]
    if not worded:
        raise UsageError("there is no text to speak")
    return [
        PlannedPass(i, s.words(text), (s.begin, s.end), s.pause_after and i + 1 < len(worded), s.speaker)
        for i, s in enumerate(worded)
    ]
