"""How long a text in parts will be, and how long its making takes, by the parts that are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..state.reading import PartSound, Reading
from .part_maker import PartMaker


@dataclass(frozen=True)
class Estimate:
    """Seconds: of sound that there is, of the whole as it will be, and of time until then, None while nobody knows."""

    made: float
    whole: float
    left: float | None


class Lengths:
    """estimate_seconds(words): how long these take, as far as one can tell by them."""

    def __init__(self, estimate_seconds: Callable[[str], float]):
        self._estimate = estimate_seconds
        self._expected: dict[str, list[float]] = {}  # seconds of each part by its words

    def of(self, reading: Reading, sounds: dict[int, PartSound], maker: PartMaker | None) -> Estimate:
        """By the lengths of the words, corrected by how long those were that are spoken already, and with the pauses
        between parts; the time by the pace of the model so far."""
        expected = self._expected.get(reading.id)
        if expected is None:
            rate, numbers = reading.speech_options().rate, range(len(reading.parts))
            expected = [self._estimate(reading.words(n)) / rate for n in numbers]
            self._expected[reading.id] = expected
        there = [sound.take.seconds if (sound := sounds.get(n)) and sound.take else None for n in range(len(expected))]
        made = sum(seconds for seconds in there if seconds)
        said = sum(words for words, seconds in zip(expected, there) if seconds is not None)
        missing = sum(words for words, seconds in zip(expected, there) if seconds is None)
        longer = made / said if said > 5 else 1.0
        rest = missing * longer
        pause = reading.speech_options().pause_ms / 1000
        pauses = [pause if part.pause_after else 0.0 for part in reading.parts[:-1]] + [0.0]
        silent = sum(each for each, seconds in zip(pauses, there) if seconds is not None)
        pace, under_way = (maker.pace, maker.under_way) if maker else (None, 0.0)
        # seconds of work that are in the next part already count
        return Estimate(
            made + silent, made + rest + sum(pauses), None if pace is None else max(0.0, rest * pace - under_way)
        )
