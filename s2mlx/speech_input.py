"""Text for one request that is written while it is spoken, by any thread: the writer's end and the reader's."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator, Iterable
from types import TracebackType
from typing import NamedTuple

from .errors import UsageError
from .worker import Bell, Closed

DEFAULT_PATIENCE = 1.0
MOST_WAITING = 100_000  # characters that nobody read yet: a writer then waits, an hour and a half ahead of the voice
Pieces = Iterable[str] | AsyncIterable[str]


class Came(NamedTuple):
    """What a reader finds: pieces of text, in order, None where a flush was; whether that is all, and the writer's
    error that ended it."""

    pieces: list[str | None]
    ended: bool
    fault: BaseException | None


class SpeechInput:
    """A text that is written while `Synthesizer.stream` or `say` speaks it:

        text = s2mlx.SpeechInput()
        chunks = tts.stream(text)      # and from any thread:
        text.write("One sentence. The beginning of ano")
        text.write("ther.")
        text.close()

    A sentence is spoken as soon as it is certain that it ended, `patience` seconds after the last write also what ends
    in a clause or a line. pieces: an iterable or asynchronous iterable of str that is written from a thread of its
    own, and then closed; what it raises ends the request, after what was complete was spoken.

    As a context manager it is closed at the end of the block, with the error that ends it. One input is for one
    request. All methods may be called from any thread.
    """

    def __init__(self, pieces: Pieces | None = None, *, patience: float = DEFAULT_PATIENCE):
        if not (isinstance(patience, (int, float)) and patience >= 0):
            raise UsageError(f"patience must be at least 0 seconds, not {patience!r}")
        self.patience = float(patience)
        self._changed = threading.Condition()
        self._pieces: deque[str | None] = deque()
        self._size, self._last, self._written = 0, time.monotonic(), 0
        self._closed = self._left = self._taken = False
        self._fault: BaseException | None = None
        self._bell = Bell()
        self._source = pieces

    # The writer's end.

    def write(self, text: str) -> None:
        """Add text, in pieces of any size. Waits while very much of it waits to be spoken. Raises `Closed` when nobody
        reads it any more: the request was cancelled, failed, or its model was closed."""
        if not isinstance(text, str):
            raise UsageError(f"the text must come as str, not {type(text).__name__}")
        with self._changed:
            self._changed.wait_for(lambda: self._size < MOST_WAITING or self._closed or self._left)
            self._check_open()
            if text:
                self._pieces.append(text)
                self._size += len(text)
                self._written += len(text)
                self._last = time.monotonic()
                self._tell()

    def flush(self) -> None:
        """What was written so far is spoken now, even where no sentence ends."""
        with self._changed:
            self._check_open()
            self._pieces.append(None)
            self._tell()

    def close(self, error: BaseException | None = None) -> None:
        """No more will come: the rest is spoken. error: it failed; what is complete is spoken, then the request raises
        this. Closing twice does nothing."""
        with self._changed:
            if not self._closed:
                self._closed, self._fault = True, error
                self._tell()

    @property
    def characters(self) -> int:
        """How many were written so far."""
        return self._written

    @property
    def closed(self) -> bool:
        """Whether no more will come."""
        return self._closed

    @property
    def error(self) -> BaseException | None:
        """With what its writer failed."""
        return self._fault

    @property
    def full(self) -> bool:
        """Whether `write` would wait."""
        with self._changed:
            return self._size >= MOST_WAITING and not (self._closed or self._left)

    def __enter__(self) -> SpeechInput:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, _: TracebackType | None) -> None:
        self.close(fault)

    def _check_open(self) -> None:
        if self._left:
            raise Closed("the speech has ended, and nobody reads this text any more")
        if self._closed:
            raise UsageError("this text was closed, and cannot grow any more")

    def _tell(self) -> None:
        self._changed.notify_all()
        self._bell.ring()

    # The reader's end: the engine.

    def begin(self) -> None:
        """It is read by a request now. Raises `UsageError` if it was before."""
        with self._changed:
            if self._taken:
                raise UsageError("this text was spoken already; make another SpeechInput for another request")
            self._taken = True
        if (source := self.take_source()) is not None:
            threading.Thread(target=self._pump, args=(source,), name="s2mlx-text", daemon=True).start()

    def take_source(self) -> Pieces | None:
        """The pieces that it was made of, which whoever asks then writes and closes."""
        source, self._source = self._source, None
        return source

    def take(self) -> Came:
        """What came since the last time. Never waits."""
        with self._changed:
            self._bell.hush()
            pieces = list(self._pieces)
            self._pieces.clear()
            self._size = 0
            self._changed.notify_all()
            return Came(pieces, self._closed, self._fault)

    @property
    def quiet(self) -> float:
        """Seconds since the last write."""
        return time.monotonic() - self._last

    def call_when_changed(self, wake: Callable[[], None]) -> None:
        """Once, from the writer's thread, or at once if something came since `take`."""
        self._bell.call_when_rung(wake)

    def leave(self) -> None:
        """Nobody reads any more."""
        with self._changed:
            self._left, self._bell = True, Bell()  # and nobody is woken, nor held
            self._pieces.clear()
            self._changed.notify_all()

    def _pump(self, source: Pieces) -> None:
        try:
            if isinstance(source, AsyncIterable):
                asyncio.run(self.read(source))
            else:
                for piece in source:
                    self.write(piece)
        except Closed:
            pass
        except BaseException as fault:  # the request raises it
            self.close(fault)
        else:
            self.close()
        finally:
            if isinstance(source, Generator):
                source.close()  # its last block runs

    async def read(self, source: AsyncIterable[str]) -> None:
        """Write all of it, without ever blocking the loop."""
        async for piece in source:
            while self.full:
                await asyncio.sleep(0.02)
            self.write(piece)


@contextlib.asynccontextmanager
async def read_here(text: str | SpeechInput) -> AsyncIterator[str | SpeechInput]:
    """The text, of which an asynchronous source is read in the loop that runs here, until the end of the block."""
    if isinstance(text, str) or not isinstance(source := text.take_source(), AsyncIterable):
        yield text
        return

    async def pump() -> None:
        try:
            await text.read(source)
        except Closed:
            pass
        except BaseException as fault:  # the request raises it
            text.close(fault)
            if isinstance(fault, asyncio.CancelledError):
                raise
        else:
            text.close()
        finally:
            if isinstance(source, AsyncGenerator):
                await source.aclose()

    task = asyncio.create_task(pump(), name="s2mlx-text")
    try:
        yield text
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def written(text: object) -> str | SpeechInput:
    """The text of a request: what is all there as a str. Raises `UsageError` for what is none."""
    if isinstance(text, (str, SpeechInput)):
        return text
    if isinstance(text, (list, tuple)) and all(isinstance(piece, str) for piece in text):
        return "".join(text)
    if isinstance(text, (Iterable, AsyncIterable)) and not isinstance(text, (bytes, bytearray, list, tuple)):
        return SpeechInput(text)
    raise UsageError(f"the text must be a str, an iterable of str or a SpeechInput, not {type(text).__name__}")
