"""What is said when, beside the sound: SubRip, WebVTT or JSON, a line for each sentence.

A pass tells its words and its sound, not where in it a sentence is: that is estimated from the lengths of the words,
then moved to the quietest moment near it. Written by hand, since subtitle libraries take `{...}` in a text for layout
and drop it.
"""

from __future__ import annotations

import html
import json
from typing import NamedTuple

import numpy as np

from ..audio import SHORT_FRAME, frame_levels
from ..text import estimate_seconds, has_words, split_sentences, without_speakers

_BELOW_LOUD = 35.0  # dB under the loudest moment: silence around a pass
_REACH, _LEAST_REACH = 0.15, 0.4  # of a sentence's time, and seconds: how far off its end may be
_PAUSE = 0.1  # seconds: how long a moment is


class Cue(NamedTuple):
    """begin, end: seconds from the beginning of the sound."""

    begin: float
    end: float
    text: str


def subtitle_file(cues: list[Cue], ending: str) -> bytes:
    """The file with this ending: .srt, .vtt or .json."""
    form = {".srt": _srt, ".vtt": _vtt, ".json": _json}[ending]
    return form(cues).encode()


def cues_of(text: str, samples: np.ndarray, rate: int, begin: float = 0.0) -> list[Cue]:
    """The sentences of a pass, which begins at this second of the sound. samples float32 [n]."""
    words = without_speakers(text)
    parts = [words[begin:end].strip() for begin, end in split_sentences(words)]
    parts = [part for part in parts if has_words(part)]
    levels = frame_levels(samples, rate)
    if not parts or not len(levels):
        return []
    heard = np.flatnonzero(levels > levels.max() - _BELOW_LOUD)
    first, last = int(heard[0]), int(heard[-1]) + 1
    lengths = np.array([max(0.01, estimate_seconds(part)) for part in parts])
    ends = first + np.cumsum(lengths) / lengths.sum() * (last - first)
    size = max(1, round(_PAUSE / SHORT_FRAME))
    around = np.convolve(levels, np.ones(size) / size, "same")
    places = [first]
    for end, length in zip(ends[:-1], lengths):
        reach = max(_REACH * length, _LEAST_REACH) / SHORT_FRAME
        low, high = max(places[-1] + 1, int(end - reach)), min(last - 1, int(end + reach) + 1)
        places.append(low + int(around[low:high].argmin()) if low < high else max(places[-1], min(low, last)))
    places.append(last)
    times = [round(begin + place * SHORT_FRAME, 3) for place in places]
    return [Cue(*one) for one in zip(times, times[1:], parts)]


def _srt(cues: list[Cue]) -> str:
    return "".join(
        f"{number}\n{_clock(cue.begin, ',')} --> {_clock(cue.end, ',')}\n{_lines(cue.text)}\n\n"
        for number, cue in enumerate(cues, 1)
    )


def _vtt(cues: list[Cue]) -> str:
    return "WEBVTT\n\n" + "".join(
        f"{_clock(cue.begin, '.')} --> {_clock(cue.end, '.')}\n{html.escape(_lines(cue.text), quote=False)}\n\n"
        for cue in cues
    )


def _json(cues: list[Cue]) -> str:
    return json.dumps([cue._asdict() for cue in cues], ensure_ascii=False, indent=1) + "\n"


def _lines(text: str) -> str:
    """No empty line, which would end the cue."""
    return "\n".join(line for line in (one.strip() for one in text.splitlines()) if line)


def _clock(seconds: float, point: str) -> str:
    thousandths = round(seconds * 1000)
    minutes, rest = divmod(thousandths, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}{point}{rest % 1000:03}"
