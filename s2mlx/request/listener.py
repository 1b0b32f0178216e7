"""The ear of one request: a thread of its own, beside the one that speaks, and let go of when the request ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from ..results import Hearing

# (words that were to be said, samples float32 [n], their rate) -> what was heard of them; None if the ear does not
# know their language
Judge = Callable[[str, np.ndarray, int], Hearing | None]


class Listener:
    """Hears one take after the other.

    open_judge() is called on the thread when the first take comes: a recognizer takes a second to load, in which the
    model speaks on. What the judge raises is raised by the future that `hear` returns.
    """

    def __init__(self, open_judge: Callable[[], Judge]):
        self._open, self._judge = open_judge, None
        self._thread: ThreadPoolExecutor | None = ThreadPoolExecutor(1, "s2mlx-ear")
        self._thread.submit(self._ready)

    def hear(self, text: str, samples: np.ndarray, rate: int) -> Future[Hearing | None]:
        assert self._thread is not None
        return self._thread.submit(lambda: self._ready()(text, samples, rate))

    def close(self) -> None:
        """What was not heard yet never is; the recognizer's memory is free as soon as it has heard what it hears."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None

    def _ready(self) -> Judge:
        if self._judge is None:
            self._judge = self._open()
        return self._judge
