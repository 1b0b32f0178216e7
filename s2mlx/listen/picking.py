"""The best part of a long recording to clone a voice from: one voice, whole sentences, clean, 10 to 15 seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..audio.loudness import frame_levels
from ..audio.verdict import Take, check, trim
from ..errors import AudioError
from .comparing import compare
from .ears import Ear
from .heard import Heard
from .phrases import Phrase, find_phrases
from .transcript import SURE, whole

BEST = (10.0, 15.0)  # s
_BOUNDS = (5.0, 20.0)
_HEARD_AT_ONCE = 40.0  # s of a stretch that are listened to
_TRIED, _CUTS = 5, 3  # stretches; cuts of each
# Between phrases of one voice, flite's and espeak-ng's: 1.5 semitones and 4.4 dB at most; between voices more than
# these in the one or the other.
_PITCH, _COLOUR = 3.0, 6.5
_LONG_PHRASE = 0.8  # s; what is shorter tells little of its voice
_VOICED = 0.3  # share of a phrase; noise and music of drums have less
_FAR = 2.0  # s of silence: whoever speaks then may be another
_NEAR, _QUIET, _BELOW = 0.9, 0.06, 15.0  # s around a guess; s; dB below the speech: a pause between sentences
_ALIKE = 0.15  # share of words that may be heard otherwise in the cut than in what is around it


@dataclass(frozen=True)
class Picked:
    """A part of a recording, from `begin` to `end` seconds: samples float32 [n] with 0.3 s of silence at the end."""

    begin: float
    end: float
    samples: np.ndarray
    heard: Heard
    problems: tuple[str, ...] = ()


def pick(ear: Ear, samples: np.ndarray, rate: int, language: str | None = None) -> Picked:
    """Find it in a recording, float32 [n] at `rate` Hz. Raises `AudioError` where no part will do."""
    phrases, floor = find_phrases(samples, rate)
    found: list[Picked] = []
    for stretch in sorted(_stretches(phrases), key=lambda each: -_worth(each, floor))[:_TRIED]:
        for picked in _cuts(ear, samples, rate, stretch, language):
            if not picked.problems and BEST[0] <= picked.end - picked.begin <= BEST[1] + 1:
                return picked
            found.append(picked)
    if not found:
        raise AudioError("no part of it is one clear voice speaking whole sentences for 5 seconds or more")
    return min(found, key=lambda each: (len(each.problems), abs(each.end - each.begin - sum(BEST) / 2)))


def _stretches(phrases: list[Phrase]) -> Iterator[list[Phrase]]:
    """Phrases in a row that one voice may have said, as far as pitch, colour and silence tell."""
    current: list[Phrase] = []
    for phrase in phrases:
        if current and _another(current, phrase):
            yield current
            current = []
        if phrase.voiced >= _VOICED or (current and phrase.seconds < _LONG_PHRASE):
            current.append(phrase)
        elif current:
            yield current
            current = []
    if current:
        yield current


def _another(current: list[Phrase], phrase: Phrase) -> bool:
    if phrase.begin - current[-1].end > _FAR:
        return True
    known = [each for each in current if each.seconds >= _LONG_PHRASE]
    if not known or phrase.seconds < _LONG_PHRASE or phrase.voiced < _VOICED:
        return False
    weights = [each.seconds for each in known]
    pitch = float(np.average([each.pitch for each in known], weights=weights))
    colour = np.average([each.colour for each in known], axis=0, weights=weights)
    far = float(np.sqrt(np.mean(np.square(phrase.colour - colour))))
    return abs(phrase.pitch - pitch) > _PITCH or far > _COLOUR


def _worth(stretch: list[Phrase], floor: float) -> float:
    """Long enough first, then what stands out of the noise."""
    seconds = min(sum(each.seconds for each in stretch), BEST[1])
    return (
        2 * min(seconds, BEST[0])
        + seconds / 2
        + min(40.0, float(np.median([each.level for each in stretch])) - floor) / 4
    )


def _cuts(ear: Ear, samples: np.ndarray, rate: int, stretch: list[Phrase], language: str | None) -> Iterator[Picked]:
    """Whole sentences of a stretch, those of the best length first; each cut was heard again by itself."""
    begin, end = stretch[0].begin, min(stretch[-1].end, stretch[0].begin + _HEARD_AT_ONCE)
    if end - begin < _BOUNDS[0]:
        return
    at = max(0, round((begin - 0.3) * rate))
    part = samples[at : round((end + 0.3) * rate)]
    heard = ear.hear(part, rate, language)
    edges = _edges(part, rate, heard)
    spans = [
        (first, last)
        for i, first in enumerate(edges)
        for last in edges[i + 1 :]
        if _BOUNDS[0] <= last[1] - first[1] <= _BOUNDS[1]
    ]
    for first, last in sorted(spans, key=lambda span: _off(span[1][1] - span[0][1]))[:_CUTS]:
        words = " ".join(word.text for word in heard.words[first[0] : last[0]])
        cut = trim(Take.of(part[round(first[1] * rate) : round(last[1] * rate)], rate))
        again = ear.hear(cut.samples, rate, language, twice=True)
        if not again.text or compare(words, again.text, again.language).rate > _ALIKE or not whole(again.text):
            continue
        problems = list(check(cut).problems)
        if again.confidence is not None and again.confidence < SURE:
            problems.append("its words are heard badly")
        yield Picked(at / rate + first[1], at / rate + last[1], cut.samples, again, tuple(problems))


def _off(seconds: float) -> float:
    """How far from the best length."""
    return max(BEST[0] - seconds, seconds - BEST[1], 0.0) + abs(seconds - sum(BEST) / 2) / 100


def _edges(part: np.ndarray, rate: int, heard: Heard) -> list[tuple[int, float]]:
    """(words before, seconds) of each place where a sentence ends, and the begin: in the pause nearest to where the
    times of the words have it."""
    levels = frame_levels(part, rate, _QUIET)
    speech = float(np.percentile(levels, 90))
    edges = [(0, 0.0)]
    for number, word in enumerate(heard.words[:-1], 1):
        if not whole(word.text):
            continue
        first, last = (max(0, round((word.end + off) / _QUIET)) for off in (-_NEAR, _NEAR))
        around = levels[first:last]
        if len(around) and around.min() < speech - _BELOW:
            # the middle of the longest row of quiet frames there
            quiet = np.flatnonzero(around < max(around.min() + 6, speech - 2 * _BELOW))
            row = max(np.split(quiet, np.flatnonzero(np.diff(quiet) > 1) + 1), key=len)
            edges.append((number, (first + float(row.mean()) + 0.5) * _QUIET))
    if heard.words and whole(heard.words[-1].text):
        edges.append((len(heard.words), len(part) / rate))
    return edges
