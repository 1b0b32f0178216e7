"""The ear of one request: a thread of its own, beside the one that speaks, and let go of when the request ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np

from ..results import Hearing


class Judge(Protocol):
    """Called with the words that were to be said and samples float32 [n] at their rate -> what was heard of them; None
    if the ear does not know their language."""

    def __call__(self, text: str, samples: np.ndarray, rate: int, /) -> Hearing | None: ...

    def close(self) -> None: ...


class Listener:
    """Hears one take after the other.

    open_judge() is called on the thread, once and at once: a recognizer takes a moment to load, in which the model
    speaks. What it or the judge raises is raised by the futures that `hear` returns.
    """

    def __init__(self, open_judge: Callable[[], Judge]):
        self._open, self._closed = open_judge, False
        self._judge: Judge | None = None
        self._fault: BaseException | None = None  # with which it could not be opened
        self._news = threading.Event()
        self._thread = ThreadPoolExecutor(1, "s2mlx-ear")
        self._thread.submit(self._ready)

    def hear(self, text: str, samples: np.ndarray, rate: int) -> Future[Hearing | None]:
        future = self._thread.submit(self._hear, text, samples, rate)
        future.add_done_callback(lambda _: self._news.set())
        return future

    def wait(self, seconds: float) -> None:
        """Until something was heard that nobody has waited for yet, so long at most. By one thread."""
        self._news.wait(seconds)
        self._news.clear()

    def close(self) -> None:
        """What was not heard yet never is; the recognizer goes as soon as it is done with what it hears now."""
        if not self._closed:
            self._closed = True
            self._thread.submit(self._let_go)
            self._thread.shutdown(wait=False)

    def _hear(self, text: str, samples: np.ndarray, rate: int) -> Hearing | None:
        return None if self._closed else self._ready()(text, samples, rate)

    def _ready(self) -> Judge:
        if self._fault is not None:
            raise self._fault
        if self._judge is None:
            try:
                self._judge = self._open()
            except BaseException as fault:
                self._fault = fault
                raise
        return self._judge

    def _let_go(self) -> None:
        if self._judge is not None:
            self._judge.close()
            self._judge = None
