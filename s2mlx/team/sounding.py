"""Codes -> sound on the leader's model, between the steps of what it speaks itself."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from ..options import Options
from ..synthesizer import Synthesizer
from ..worker import Aside, Bell, KeepGoing

if TYPE_CHECKING:
    from ..request.engine import Engine
    from ..request.passes import PlannedPass

Piece = tuple[np.ndarray, np.ndarray, str | None]  # codes, samples, why the pass ended or None


class Sounding:
    """To be made before this machine begins its own share: work that has begun is not left for new work, but for work
    that is aside."""

    def __init__(self, tts: Synthesizer, options: Options, cancel: threading.Event):
        self._options, self._waiting = options, deque[tuple["PlannedPass", np.ndarray, str]]()
        self._ended, self._bell = False, Bell()
        self._results = tts.on_engine(self._work, cancel)

    def of(self, planned: PlannedPass, codes: np.ndarray, reason: str) -> list[Piece]:
        """The pieces of a pass, as many as there were before a cancel. codes int32 [num_codebooks, frames]."""
        self._waiting.append((planned, codes, reason))
        self._bell.ring()
        found: list[Piece] = next(self._results, [])
        return found

    def close(self) -> None:
        self._ended = True
        self._bell.ring()
        self._results.close()

    def _work(self, engine: Engine, going: KeepGoing) -> Iterator[Any]:
        while True:
            self._bell.hush()
            while self._waiting:
                yield list(takewhile(lambda piece: going(), engine.sound(*self._waiting.popleft(), self._options)))
            if self._ended or not going():
                return
            yield Aside(self._bell.call_when_rung, between=lambda: bool(self._waiting))
