"""Passes that somebody else hands out, one after the other: how several machines share a text."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..networks.generate import Frame
from ..results import CANCELLED, AudioChunk
from ..worker import Aside, Bell
from .pass_source import PassSource
from .passes import PlannedPass
from .run import RequestRun


class AssignedPasses(PassSource):
    """Of a text of so many passes those that are given by `add`, until `end`; both may be called by any thread. While
    none is known, others are served."""

    def __init__(self, parts: int):
        super().__init__()
        self.parts = parts
        self._came: deque[PlannedPass] = deque()
        self._ended, self._bell = False, Bell()

    def add(self, passes: Iterable[PlannedPass]) -> None:
        self._came.extend(passes)
        self._bell.ring()

    def end(self) -> None:
        self._ended = True
        self._bell.ring()

    def look(self) -> None:
        while self._came:
            self.known.append(self._came.popleft())

    def hurry(self) -> Aside | None:
        self._bell.hush()
        ended = self._ended  # before the look: behind it passes may have come, and then the end
        self.look()
        return None if self.known or ended else Aside(self._bell.call_when_rung)


class SilentRun(RequestRun):
    """A request of which only the codes are wanted: its chunks, one a pass, hold no samples."""

    def _sound(self, planned: PlannedPass) -> PassCodes:  # type: ignore[override]
        return PassCodes(planned, self.config.num_codebooks, self.chunk)


class PassCodes:
    """In the place of a `PassSound`: collects what the pass is made of."""

    def __init__(self, planned: PlannedPass, books: int, chunk: Callable[..., AudioChunk]):
        self._planned, self._chunk = planned, chunk
        self._codes = [np.zeros((books, 0), np.int32)]

    def take(self, frame: Frame) -> Iterator[AudioChunk]:
        if frame.codes is not None:
            self._codes.append(np.asarray(frame.codes, np.int32)[:, None])
            return
        assert frame.finish_reason is not None
        yield self.last(frame.finish_reason)

    def last(self, reason: str) -> AudioChunk:
        codes = self._codes if reason != CANCELLED else self._codes[:1]
        return self._chunk(self._planned, np.concatenate(codes, axis=1), np.zeros(0, np.float32), reason)
