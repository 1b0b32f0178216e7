"""Moonshine (package moonshine-voice): English, on the CPU, its smallest model inside the wheel up to 0.1.0."""

from __future__ import annotations

import os
from math import inf

import numpy as np

from ..audio.rates import resample
from ..errors import EarError
from .comparing import compare
from .heard import Heard, HeardWord, shared_out
from .pieces import pieces

RATE = 16000
_PAD = 0.25  # s of silence around: it misses a word that begins at once
_FASTER = 1.04  # the second hearing


class MoonshineEar:
    """See `Ear`. About 150 MB while it is loaded."""

    name = "moonshine"

    def __init__(self) -> None:
        try:
            import moonshine_voice as library

            folder = os.path.join(str(library.get_assets_path()), "tiny-en")
        except Exception as fault:  # of its C library's too
            raise EarError(f"moonshine-voice cannot be loaded here: {fault or type(fault).__name__}") from fault
        if not os.path.exists(os.path.join(folder, "encoder_model.ort")):
            raise EarError(
                'this moonshine-voice brings no model: pip install "moonshine-voice<=0.1.0", the last that does'
            )
        try:
            self._library = library.Transcriber(model_path=folder, model_arch=library.ModelArch.TINY)
        except Exception as fault:
            raise EarError(f"moonshine-voice cannot load its model: {fault or type(fault).__name__}") from fault

    def hear(self, samples: np.ndarray, rate: int, language: str | None = None, twice: bool = False) -> Heard:
        """See `Ear`; the language is always English."""
        samples = np.asarray(samples, np.float32).reshape(-1)
        whole = len(samples) / rate
        samples = resample(samples, rate, RATE)  # which may round up to a sample more
        lines = [(line, min(start, whole), min(end, whole)) for line, start, end in self._lines(samples)]
        text = " ".join(line for line, _, _ in lines)
        words: list[HeardWord] = []
        for line, start, end in lines:
            words += shared_out(line, start, end)
        confidence = None
        if twice:
            again = " ".join(line for line, _, _ in self._lines(resample(samples, RATE * _FASTER, RATE)))
            confidence = max(0.0, 1 - compare(text, again).rate) if text else 0.0
        return Heard(text, tuple(words), "en", confidence)

    def close(self) -> None:
        self._library.close()

    def _lines(self, samples: np.ndarray) -> list[tuple[str, float, float]]:
        """Text, begin and end in seconds of each line, in order."""
        found = []
        for start, piece in pieces(samples, RATE):
            padded = np.pad(piece, round(_PAD * RATE))
            try:
                lines = self._library.transcribe_without_streaming(padded.tolist(), RATE).lines
            except Exception as fault:  # its own kinds, by a number that its C library gives
                raise EarError(f"moonshine-voice could not listen: {fault}") from fault
            seconds = len(piece) / RATE
            for line in lines:
                if line.start_time < _PAD / 2 and line.start_time + line.duration < 2 * _PAD:
                    continue  # begun in our silence: what it heard before still rings in it, as a "You" nobody said
                begin = min(max(0.0, line.start_time - _PAD), seconds)
                end = min(max(begin, begin + line.duration), seconds)
                if text := " ".join(line.text.split()):
                    found.append((text, start / RATE + begin, start / RATE + end))
        # Where it cuts within speech, a line is said to last into the next.
        ends = [begin for _, begin, _ in found[1:]] + [inf]
        return [(text, begin, max(begin, min(end, last))) for (text, begin, end), last in zip(found, ends)]
