"""The chunks of a request between the engine, which makes them, and the client, which takes them: how much waits here.

Knows chunks; no formats, no network.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

from ..results import AudioChunk


class Ahead:
    """Iterates over the chunks of `take` for one thread, while another takes them from the engine as they are made.

    `waiting`: seconds of sound that were made and not yet handed over. `ended`: the last was, or the engine's fault was
    raised here.
    """

    def __init__(self):
        self._queue: queue.SimpleQueue[AudioChunk | _End] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.waiting, self.ended = 0.0, False

    def take(self, chunks: Iterator[AudioChunk], made: Callable[[], None]) -> None:
        """Begin. made() is called when the engine has no more to do for them."""
        threading.Thread(target=self._take, args=(chunks, made), name="s2mlx-ahead", daemon=True).start()

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> AudioChunk:
        if self.ended:
            raise StopIteration
        item = self._queue.get()
        if isinstance(item, _End):
            self.ended = True
            raise item.fault or StopIteration
        self._count(item, -1)
        return item

    def _take(self, chunks: Iterator[AudioChunk], made: Callable[[], None]) -> None:
        fault = None
        try:
            for chunk in chunks:
                self._count(chunk, 1)
                self._queue.put(chunk)
        except BaseException as error:  # handed to the other thread, which raises it
            fault = error
        made()
        self._queue.put(_End(fault))

    def _count(self, chunk: AudioChunk, sign: int) -> None:
        with self._lock:
            self.waiting += sign * len(chunk.samples) / chunk.sample_rate


class _End:
    def __init__(self, fault: BaseException | None):
        self.fault = fault
