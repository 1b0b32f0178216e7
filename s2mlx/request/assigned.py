"""Passes that somebody else hands out, one after the other: how several machines share a text."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..networks.generate import Frame
from ..results import CANCELLED, AudioChunk
from ..worker import Aside
from .pass_source import PassSource
from .passes import PlannedPass
from .run import RequestRun


class AssignedPasses(PassSource):
    """Of a text of so many passes those that are given by `add`, until `end`; both may be called by any thread. While
    none is known, others are served."""

    def __init__(self, parts: int):
        super().__init__()
        self.parts = parts
        self._lock = threading.Lock()
        self._came: deque[PlannedPass] = deque()
        self._ended = False
        self._wake: Callable[[], None] | None = None

    def add(self, passes: Iterable[PlannedPass]) -> None:
        with self._lock:
            self._came.extend(passes)
        self._tell()

    def end(self) -> None:
        self._ended = True
        self._tell()

    def look(self) -> None:
        with self._lock:
            self.known.extend(self._came)
            self._came.clear()

    def hurry(self) -> Aside | None:
        self.look()
        return None if self.known or self._ended else Aside(self._call_when_changed)

    def _call_when_changed(self, wake: Callable[[], None]) -> None:
        with self._lock:
            if not (self._came or self._ended):
                self._wake = wake
                return
        wake()

    def _tell(self) -> None:
        with self._lock:
            wake, self._wake = self._wake, None
        if wake is not None:
            wake()


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
