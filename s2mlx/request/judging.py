"""The ear that hears the passes of a request: which one, and what it makes of a pass."""

from __future__ import annotations

import numpy as np

from ..listen import Ear, compare, find_ear, wrong
from ..results import Hearing
from ..text.marks import TAG
from .listener import Judge


def open_judge(name: str | None = None) -> Judge:
    """Load the recognizer called `name`, or the one that there is. Raises `EarError`."""
    return EarJudge(find_ear(name))


class EarJudge:
    """What an ear hears of a pass."""

    def __init__(self, ear: Ear):
        self._ear = ear

    def __call__(self, text: str, samples: np.ndarray, rate: int) -> Hearing | None:
        """text: with its tags; samples float32 [n]. Raises `EarError`."""
        wanted = TAG.sub(" ", text).strip()
        heard = self._ear.hear(samples, rate) if len(samples) else None
        said = heard.text if heard else ""
        compared = compare(wanted, said, heard.language if heard else "en")
        faults = wrong(compared, wanted)
        return Hearing(said, compared.words, compared.errors, compared.differences, not faults)

    def close(self) -> None:
        """Let the recognizer's memory go."""
        self._ear.close()
