"""Who is next: one at a time, in the order they came. Whoever is cancelled while waiting leaves at once.

The engine has a queue of its own, in which the thread of a client that left would stay until its turn; here none is put
into it before the engine is free. Knows nothing of what is done in a turn.
"""

from __future__ import annotations

import threading
from collections import deque

from .voices import Cancelled

_POLL = 0.1  # seconds


class Turn:
    """The right to go on, until its `end`, which may be called by any thread and more than once."""

    def __init__(self, turns: Turns):
        self._turns = turns

    def end(self) -> None:
        self._turns.leave(self)


class Turns:
    def __init__(self):
        self._line: deque[Turn] = deque()  # whose turn it is, then who waits
        self._change = threading.Condition()

    def wait(self, cancel: threading.Event) -> Turn:
        """Returns when it is the caller's turn. Raises `Cancelled`."""
        turn = Turn(self)
        with self._change:
            self._line.append(turn)
        try:
            on = False
            while not on:
                on = self._is_on(turn)
                if cancel.is_set():
                    raise Cancelled
        except BaseException:
            turn.end()
            raise
        return turn

    def leave(self, turn: Turn) -> None:
        with self._change:
            if turn in self._line:
                self._line.remove(turn)
                self._change.notify_all()

    def _is_on(self, turn: Turn) -> bool:
        """Waits a moment for it. The lock is free while the client is looked at."""
        with self._change:
            return self._change.wait_for(lambda: self._line[0] is turn, _POLL)
