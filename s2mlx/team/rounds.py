"""What the machines of a team tell each other, in rounds: in each everybody says what they have to say to all.

All of it goes by one collective operation of `mx.distributed`, which every backend has and which needs no agreement on
who talks to whom. A thread of its own works the rounds; MLX's streams belong to threads, so it has a CPU stream too.
"""

from __future__ import annotations

import base64
import json
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import S2Error

PAUSE = 0.1  # seconds between two rounds
PATIENCE = 40.0  # seconds that a round may take: a machine that is busy still answers, one that sleeps does not
_LAST_ROUND = 1.0  # seconds in which a round that is being told ends
Message = dict[str, Any]  # JSON, and arrays of int32
Swap = Callable[[bytes], list[bytes]]  # what this one says -> what each says, itself too, in the order of their ranks


class TeamLost(S2Error):
    """A machine of the team is gone, or cannot be reached any more."""

    keeps_finished = True

    def __init__(self, why: str = ""):
        super().__init__(
            "a machine of the team was lost" + (f" ({why})" if why else "") + "; what was complete is kept"
        )


class Rounds:
    """swap: makes a round. Begins at once; `say` is heard by all, also by who says it; `hear` is what was said, with
    the rank of who said it. `leave` ends it for all, after what was said before."""

    def __init__(self, swap: Swap, pause: float = PAUSE, patience: float = PATIENCE):
        self._swap, self._pause, self._patience = swap, pause, patience
        self._said: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._heard: queue.SimpleQueue[tuple[int, Message] | None] = queue.SimpleQueue()
        self._fault: BaseException | None = None
        self._since = time.monotonic()  # the last round
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="s2mlx-team", daemon=True)
        self._thread.start()

    def say(self, **message: Any) -> None:
        self._said.put(message)

    def hear(self, seconds: float | None = None) -> tuple[int, Message] | None:
        """What was said next; None if nothing is within so many seconds. Raises `TeamLost`, also when all have left."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            wait = 0.5 if deadline is None else max(0.0, min(0.5, deadline - time.monotonic()))
            try:
                found = self._heard.get(timeout=wait)
            except queue.Empty:
                if not self._ended.is_set() and time.monotonic() - self._since > self._patience:
                    raise TeamLost("it does not answer") from None
                if deadline is not None and time.monotonic() >= deadline:
                    return None
                continue
            if found is None:
                self._heard.put(None)  # for whoever asks again
                raise TeamLost(str(self._fault or ""))
            return found

    def leave(self, seconds: float = 10.0) -> None:
        """Let all end, and wait for it, so long at most."""
        self.say(kind=_LEAVE)
        self._thread.join(seconds)

    @property
    def stuck(self) -> bool:
        """Its thread is in a round that will not end. Waits a moment for one that does."""
        self._thread.join(_LAST_ROUND)
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            going = True
            while going:
                mine = []
                while not self._said.empty():
                    mine.append(self._said.get())
                for rank, data in enumerate(self._swap(encoded(mine))):
                    for message in decoded(data):
                        going &= message.get("kind") != _LEAVE
                        self._heard.put((rank, message))
                self._since = time.monotonic()
                if going and self._said.empty():
                    time.sleep(self._pause)
        except BaseException as fault:
            self._fault = fault
        self._ended.set()
        self._heard.put(None)


_LEAVE = "leave"


def encoded(messages: list[Message]) -> bytes:
    """Nothing for none."""
    return json.dumps(messages, default=_array).encode() if messages else b""


def decoded(data: bytes) -> list[Message]:
    found: list[Message] = json.loads(data, object_hook=_object) if data else []
    return found


def _array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value, "<i4")
        return {"shape": list(data.shape), "int32": base64.b64encode(data.tobytes()).decode()}
    raise TypeError(f"{type(value).__name__} cannot be said")


def _object(value: dict[str, Any]) -> Any:
    if value.keys() == {"shape", "int32"}:
        return np.frombuffer(base64.b64decode(value["int32"]), "<i4").reshape(value["shape"]).astype(np.int32)
    return value
