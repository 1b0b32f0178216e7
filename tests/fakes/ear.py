"""An ear that hears what a test wants it to."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from s2mlx.results import Hearing


class ScriptedEar:
    """What each take of a pass is heard as, by the number of its take: `wrong(text, take)` -> how many of its ten words
    are wrong; None: a language it does not know. `gate` is passed through before each answer."""

    def __init__(self, wrong: Callable[[str, int], int | None] = lambda text, take: 0):
        self.wrong, self.takes, self.sounds = wrong, {}, []
        self.opened = self.closed = 0
        self.gate = threading.Event()
        self.gate.set()

    def open(self):
        self.opened += 1
        return self

    def close(self):
        self.closed += 1

    def __call__(self, text: str, samples: np.ndarray, rate: int) -> Hearing | None:
        take = self.takes[text] = self.takes.get(text, -1) + 1
        self.sounds.append((text, take, samples))
        assert self.gate.wait(30)
        errors = self.wrong(text, take)
        return None if errors is None else Hearing(f"take {take}", 10, errors, right=errors < 3)
