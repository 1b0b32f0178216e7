"""The ear that hears the passes of a request: which one, and what it makes of a pass."""

from __future__ import annotations

import contextlib

import numpy as np

from ..errors import EarError
from ..listen import EARS, Ear, compare, find_ear, wrong
from ..results import Hearing
from ..text.marks import TAG
from ..text.remarks import language
from .listener import Judge


def open_judge(name: str | None, text: str) -> Judge:
    """Load the recognizer called `name`, or one that knows the language of the text, or any. Raises `EarError`."""
    with contextlib.suppress(EarError):
        return EarJudge(find_ear(name, language(text)))
    return EarJudge(find_ear(name))


class EarJudge:
    """What an ear hears of a pass; None where the pass is in a language that it does not know."""

    def __init__(self, ear: Ear):
        self._ear, self._languages = ear, EARS[ear.name][2]

    def __call__(self, text: str, samples: np.ndarray, rate: int) -> Hearing | None:
        """text: with its tags; samples float32 [n]. Raises `EarError`."""
        spoken = language(text)
        if self._languages and spoken and spoken not in self._languages:
            return None
        wanted = TAG.sub(" ", text).strip()
        heard = self._ear.hear(samples, rate, spoken) if len(samples) else None
        said = heard.text if heard else ""
        compared = compare(wanted, said, spoken or (heard.language if heard else "en"))
        faults = wrong(compared, wanted)
        return Hearing(said, compared.words, compared.errors, compared.differences, not faults)

    def close(self) -> None:
        """Let the recognizer's memory go."""
        self._ear.close()
