"""Where pretended work waits until a test lets it go on."""

import threading
import time
from collections.abc import Callable


class Gate:
    """Open until it is closed; closed, it lets through as many as `let` has said."""

    def __init__(self):
        self._changed, self._open, self._few = threading.Condition(), True, 0

    @property
    def is_open(self) -> bool:
        return self._open

    def close(self) -> None:
        with self._changed:
            self._open, self._few = False, 0

    def open(self) -> None:
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def let(self, count: int = 1) -> None:
        with self._changed:
            self._few += count
            self._changed.notify_all()

    def pass_through(self, give_up: Callable[[], bool] = lambda: False) -> None:
        """Wait for it, or until `give_up`; a minute at most, so that a test that fails ends."""
        end = time.monotonic() + 60
        with self._changed:
            while not self._open and not self._few and not give_up() and time.monotonic() < end:
                self._changed.wait(0.002)
            if not self._open and self._few:
                self._few -= 1
