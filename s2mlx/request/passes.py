"""A text as the list of passes the model makes over it. Knows words and speakers, no tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..errors import UsageError
from ..text.controls import clean_with_places
from ..text.splitting import split_passes
from ..text.words import has_words

# The seed of pass i is the request's plus i times this (2^64 / golden ratio): far apart, and pass 0 keeps its own.
_SEED_STRIDE = 0x9E3779B97F4A7C15
# That of its take t is t times this (2^64 times the fraction of the root of two) on: the first keeps the pass's own.
_TAKE_STRIDE = 0x6A09E667F3BCC909
NOTHING_TO_SAY = "there is nothing to say: the text has no words that this model can speak"


@dataclass(frozen=True)
class PlannedPass:
    """One pass: `text` is what the model is given, `span` where it stands in the text that was given. own_seed: what
    takes the place of the seed that follows from the request's."""

    index: int
    text: str
    span: tuple[int, int]
    pause_after: bool
    speaker: int | None
    take: int = 0  # how often it was spoken before
    own_seed: int | None = None

    def seed(self, request_seed: int) -> int:
        first = request_seed + self.index * _SEED_STRIDE if self.own_seed is None else self.own_seed
        return (first + self.take * _TAKE_STRIDE) % 2**64


def plan_passes(text: str, max_seconds: float = 30.0, can_say: Callable[[str], bool] = has_words) -> list[PlannedPass]:
    """Passes in order, of at most about so many seconds of speech.

    Control sequences are left out of what is said, not of the spans. A pass that `can_say` refuses is a pause at most.
    Raises `UsageError` if that leaves nothing."""
    clean, places = clean_with_places(text)
    passes: list[PlannedPass] = []
    silent = False
    for span in split_passes(clean, max_seconds):
        words = span.words(clean)
        if not can_say(words):
            silent = True
            continue
        if passes and silent:
            passes[-1] = replace(passes[-1], pause_after=True)
        silent = False
        begin = places[span.begin] if span.begin else 0
        passes.append(PlannedPass(len(passes), words, (begin, places[span.end]), span.pause_after, span.speaker))
    if not passes:
        raise UsageError(NOTHING_TO_SAY)
    passes[-1] = replace(passes[-1], pause_after=False)
    return passes
