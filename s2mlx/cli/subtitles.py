"""The subtitles of one `say`: what it says when, heard as it is made."""

from __future__ import annotations

import os

import numpy as np

from ..listen import Cue, cues_of, subtitle_file
from ..results import CANCELLED, AudioChunk
from . import paths


class Subtitles:
    """Hears of every chunk; written at the end, or of the passes that ended when interrupted. cues: of a sound that
    this one continues, which ends at `seconds`."""

    def __init__(self, path: str, cues: list[Cue], seconds: float):
        self.path, self.cues = path, list(cues)
        self._seconds, self._pass = seconds, list[np.ndarray]()

    def hear(self, chunk: AudioChunk) -> None:
        self._pass.append(chunk.samples)
        if chunk.finish_reason is None:
            return
        samples, self._pass = np.concatenate(self._pass), []
        if chunk.finish_reason != CANCELLED:
            self.cues += cues_of(chunk.text, samples, chunk.sample_rate, self._seconds)
            self._seconds += len(samples) / chunk.sample_rate

    def write(self) -> None:
        paths.write_whole(self.path, subtitle_file(self.cues, os.path.splitext(self.path)[1].lower()))
