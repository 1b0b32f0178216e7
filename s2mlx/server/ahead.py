"""The chunks of a request between the engine's thread, which makes them, and the client, which takes them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from ..results import AudioChunk


class Ahead:
    """Iterates, in the loop it was made in, over the chunks that a thread of its own takes from the engine.

    `waiting`: seconds of sound that were made and not yet handed over, for any thread to read. `ended`: the last was
    handed over, or the engine's fault was raised here.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[AudioChunk | _End] = asyncio.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.waiting, self.ended = 0.0, False

    def take(self, chunks: Iterator[AudioChunk], made: Callable[[], None]) -> None:
        """Begin. made() is called, in the loop, when the engine has no more to do for them."""
        self._thread = threading.Thread(target=self._take, args=(chunks, made), name="s2mlx-ahead", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait, so long at most, for the end of the thread. Called by any other."""
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(seconds)

    def __aiter__(self) -> Ahead:
        return self

    async def __anext__(self) -> AudioChunk:
        if self.ended:
            raise StopAsyncIteration
        item = await self._items.get()
        if isinstance(item, _End):
            self.ended = True
            raise item.fault or StopAsyncIteration
        self._count(item, -1)
        return item

    def _take(self, chunks: Iterator[AudioChunk], made: Callable[[], None]) -> None:
        fault = None
        try:
            for chunk in chunks:
                self._count(chunk, 1)
                self._call(self._items.put_nowait, chunk)
        except BaseException as error:  # handed to the loop, which raises it
            fault = error
        self._call(made)
        self._call(self._items.put_nowait, _End(fault))

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            self._loop.call_soon_threadsafe(function, *arguments)

    def _count(self, chunk: AudioChunk, sign: int) -> None:
        with self._lock:
            self.waiting += sign * len(chunk.samples) / chunk.sample_rate


class _End:
    def __init__(self, fault: BaseException | None):
        self.fault = fault
