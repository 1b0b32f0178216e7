"""The loaded model, shared: what somebody waits for goes first, and the making of long texts steps aside for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from s2mlx.options import Options
from s2mlx.results import AudioChunk

from .protocols import SpeechEngine

if TYPE_CHECKING:
    from s2mlx import SpeechInput

REST = 0.5  # seconds without anything live, after which the making of long texts goes on


class _Either(threading.Event):
    """Set when it is, or when `other` is."""

    def __init__(self, other: threading.Event):
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


class LiveFirst:
    """`engine` as it is, but that `behind` waits for everything else. Callable from any thread."""

    def __init__(self, engine: SpeechEngine):
        self.engine = engine
        self._lock = threading.Condition()
        self._live = 0  # what somebody waits for
        self._growing: list[Callable[[], bool]] = []  # of texts that are being written: is sound owed to somebody?
        self._quiet = 0.0  # since when, on the monotonic clock, nobody waits
        self._behind: threading.Event | None = None  # set to have what is made behind step aside
        self.stepped_aside = False  # that did, the last time

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def stream(self, text: str | SpeechInput, **how: Any) -> Iterator[AudioChunk]:
        with self._going_first():
            yield from _closed(self.engine.stream(text, **how))

    def stream_growing(self, text: SpeechInput, owed: Callable[[], bool], **how: Any) -> Iterator[AudioChunk]:
        """`stream` of a text that is being written, which goes first only while sound is `owed()`: nobody waits while
        nothing is written."""
        with self._lock:
            self._growing.append(owed)
        self.look()  # some was written before
        try:
            yield from _closed(self.engine.stream(text, **how))
        finally:
            with self._lock:
                self._growing.remove(owed)
                self._quiet = time.monotonic()
                self._lock.notify_all()

    def look(self) -> None:
        """More of such a text was written: what is made behind steps aside if sound is owed now."""
        with self._lock:
            if self._behind and self._somebody_waits():
                self._behind.set()

    def stream_each(self, texts: Sequence[tuple[str, int]], **how: Any) -> Iterator[tuple[int, AudioChunk]]:
        with self._going_first():
            yield from _closed(self.engine.stream_each(texts, **how))

    def clone(self, clip: Any, transcript: str, **how: Any) -> Any:
        with self._going_first():
            return self.engine.clone(clip, transcript, **how)

    def behind(
        self,
        texts: Sequence[tuple[str, int]],
        *,
        voice: Any,
        options: Options,
        cancel: threading.Event,
        waits: Callable[[], object] = lambda: None,
    ) -> Iterator[tuple[int, AudioChunk]]:
        """As `stream_each` of the parts of one text, once nobody waits for anything; it ends early when somebody does.
        `waits()` is called when it has to wait."""
        aside = _Either(cancel)
        if not self._wait(aside, cancel, waits):
            self.stepped_aside = True
            return
        try:
            yield from _closed(self.engine.stream_each(texts, voice=voice, options=options, cancel=aside, follow=True))
        finally:
            self._behind, self.stepped_aside = None, aside.is_set()

    def _wait(self, aside: threading.Event, cancel: threading.Event, waits: Callable[[], object]) -> bool:
        """Until nothing is live any more, and was not for a while; whatever comes from then on sets `aside`. False:
        cancelled."""
        told = False
        with self._lock:
            while not cancel.is_set():
                waited_for = self._somebody_waits()
                if waited_for:
                    self._quiet = time.monotonic()
                rest = self._quiet + REST - time.monotonic() if told else 0.0
                if not waited_for and rest <= 0:
                    self._behind = aside
                    return True
                if not told:
                    told = True
                    waits()
                self._lock.wait(0.1 if waited_for else min(0.1, rest))
        return False

    def _somebody_waits(self) -> bool:
        return self._live > 0 or any(owed() for owed in self._growing)

    @contextmanager
    def _going_first(self) -> Iterator[None]:
        with self._lock:
            self._live += 1
            if self._behind:
                self._behind.set()
        try:
            yield
        finally:
            with self._lock:
                self._live -= 1
                self._quiet = time.monotonic()
                self._lock.notify_all()


def _closed(stream: Iterator[Any]) -> Iterator[Any]:
    """What comes of a stream, which is closed at the end, or when nobody reads on."""
    try:
        yield from stream
    finally:
        close = getattr(stream, "close", None)
        if close:
            close()
