"""The one thread that MLX work happens on, and the ways in: a call that waits, and a stream of results.

MLX streams are thread-local, so loading, evaluation and generation share this thread. Requests are served in the order
they came; one that has to wait for its caller steps aside for the others (`Aside`).

A forked child has none of its parent's threads: there every request is refused, and a model has to be loaded anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .errors import GenerationError, S2Error, UsageError

_END = object()
POLL = 0.05  # seconds between two looks at an event that nobody tells us of
_LONGEST_WAIT = 3600.0  # seconds; the system takes no number of any size
KeepGoing = Callable[[], bool]  # asked between two pieces of work: is it still wanted?


def _nothing() -> None: ...


class Closed(S2Error):
    """The synthesizer was closed while, or before, the request was served; or it belongs to a parent process."""


@dataclass(frozen=True)
class Aside:
    """What work yields that can do nothing for now: others are served until it is woken. It may be asked sooner.

    subscribe(wake): have wake() called, by any thread, once there is something to do. seconds: or after so long.
    between(): asked after each item of other work: shall this go on now, until it steps aside again?
    """

    subscribe: Callable[[Callable[[], None]], None]
    seconds: float | None = None
    between: Callable[[], bool] | None = None


class Bell:
    """By which other threads wake work that is aside: they change something, then `ring`. The work does in this order:
    `hush`, look for what has changed, and, having found nothing, yield `Aside(bell.call_when_rung)`. Whatever comes too
    late for the look rings after the `hush`, so that no change is slept over; that one is told twice does no harm."""

    def __init__(self) -> None:
        self._lock, self._rung = threading.Lock(), False
        self._wake: Callable[[], None] | None = None

    def ring(self) -> None:
        with self._lock:
            self._rung, wake, self._wake = True, self._wake, None
        if wake is not None:
            wake()

    def hush(self) -> None:
        self._rung = False

    def call_when_rung(self, wake: Callable[[], None]) -> None:
        """Once, by who rings, or at once if somebody has since the `hush`."""
        with self._lock:
            if not self._rung:
                self._wake = wake
                return
        wake()


class Task:
    """One piece of work: a generator function run on the worker, its items read by any thread. ended() is called on the
    worker when it has ended in any way, also when it was refused."""

    def __init__(
        self,
        work: Callable[[KeepGoing], Iterator[Any]],
        cancel: threading.Event | None,
        ended: Callable[[], None] = _nothing,
        items: AsyncItems | None = None,
    ):
        self.work, self._cancel, self.ended = work, cancel, ended
        self.items: Iterator[Any] | None = None  # once it was begun
        self.due = math.inf  # while it is aside: when to go on at the latest, by `time.monotonic`
        self.between: Callable[[], bool] | None = None  # likewise
        self.abandoned = threading.Event()
        self.wake: Callable[[], None] = _nothing  # have it go on, if it is aside
        # unbounded: a slow listener never holds up the model
        self.results: queue.SimpleQueue[tuple[object, Any]] = queue.SimpleQueue()
        self.put = self.results.put if items is None else items.put

    def cancel(self) -> bool:
        """Set the caller's event; False without one."""
        if self._cancel is not None:
            self._cancel.set()
        return self._cancel is not None

    def let_go(self) -> None:
        """It has ended: nothing that it worked with is held any longer."""
        self.items, self.work, self.ended, self.wake = iter(()), lambda keep_going: iter(()), _nothing, _nothing

    @property
    def watched(self) -> bool:
        """Whether it can be cancelled without a word to the worker."""
        return self._cancel is not None

    def wanted(self) -> bool:
        return not (self.abandoned.is_set() or (self._cancel is not None and self._cancel.is_set()))


class AsyncItems:
    """Where the items of a request go that an event loop waits for; iterate over them there."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop, self._items = loop, asyncio.Queue[tuple[object, Any]]()

    def put(self, item: tuple[object, Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)

    def __aiter__(self) -> AsyncItems:
        return self

    async def __anext__(self) -> Any:
        kind, value = await self._items.get()
        if kind is not _END:
            return value
        raise value or StopAsyncIteration


class Results:
    """The items of a request as they come; an error of the work is raised here. Closing this iterator, or letting go of
    it, abandons the request, also before the first item was asked for (which a generator would not notice).

    A Ctrl-C in here cancels a request that has an event for it, and the iterator stays open: what was finished can
    still be read. Any other request is abandoned.

    Several threads may read: each item goes to one of them, the end or the error to all.
    """

    def __init__(self, request: Task, worker: threading.Thread):
        self._request, self._worker, self._process = request, worker, os.getpid()
        self._lock = threading.Lock()
        self._fault: BaseException | None = None

    def __iter__(self) -> Results:
        return self

    def __next__(self) -> Any:
        _refuse_in_a_child_of(self._process)
        _refuse_on(self._worker)
        with self._lock:
            if not self._request.abandoned.is_set():
                try:
                    kind, value = self._request.results.get()
                except KeyboardInterrupt:
                    if not self._request.cancel():
                        self.close()
                    raise
                except BaseException:
                    self.close()
                    raise
                if kind is not _END:
                    return value
                self._fault = value
                self.close()
        if self._fault is not None:
            raise self._fault
        raise StopIteration

    def close(self) -> None:
        self._request.abandoned.set()
        self._request.put((_END, None))  # whoever waits for an item waits no longer
        self._request.wake()

    __del__ = close


class Worker:
    def __init__(self, name: str = "s2mlx"):
        self._closing = threading.Event()
        self._requests: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._aside: list[Task] = []  # those that wait, the longest first
        self._lock = threading.Lock()
        self._process = os.getpid()
        # a daemon, so that a process that forgets to close still ends
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def stream(
        self,
        work: Callable[[KeepGoing], Iterator[Any]],
        cancel: threading.Event | None = None,
        ended: Callable[[], None] = _nothing,
        items: AsyncItems | None = None,
    ) -> Results:
        """Queue `work(keep_going)`, a generator function; returns its items. `keep_going()` turns False when the caller
        cancels, stops listening, or the worker closes: the work then ends by itself. ended: as for `Task`. items: they
        take what the results would."""
        _refuse_in_a_child_of(self._process)
        _refuse_on(self._thread)
        request = Task(work, cancel, ended, items)
        request.wake = lambda: self._requests.put(request)
        with self._lock:
            if self._closing.is_set():
                raise Closed("the synthesizer is closed")
            self._requests.put(request)
        return Results(request, self._thread)

    def call(self, function: Callable[[KeepGoing], Any], cancel: threading.Event | None = None) -> Any:
        """Run `function(keep_going)` on the worker and return its result."""
        [result] = self.stream(lambda keep_going: iter([function(keep_going)]), cancel)
        return result

    def close(self, timeout: float = 2.0, last: Callable[[], None] = lambda: None) -> bool:
        """End the thread; whatever it is doing is cancelled, what waits is refused. `last` is the last that it does,
        also if that is later. True if it ended in time."""
        if os.getpid() != self._process:
            return True  # it stayed in the parent
        with self._lock:
            self._last = last
            self._closing.set()
            self._requests.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
            if not self._thread.is_alive():
                _until_gone(self._thread)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        while (request := self._next()) is not None:
            self._run(request)
            request = None  # while waiting for the next one, this one's model is not held
        while self._aside:
            self._run(self._aside.pop(0))  # which ends it, as nothing is wanted any more
        while not self._requests.empty():
            request = self._requests.get()
            if request is not None and request.items is None:
                self._end(request, Closed("the synthesizer was closed"))
        self._last()

    def _next(self) -> Task | None:
        """The next request to be served, a new one or one that was aside; None at the end."""
        while True:
            request = None
            due = min((one.due for one in self._aside), default=math.inf)
            patience = POLL if any(one.watched for one in self._aside) else math.inf
            wait = min(patience, max(0.0, due - time.monotonic()))
            try:
                request = self._requests.get(timeout=None if wait == math.inf else min(wait, _LONGEST_WAIT))
                if request is None:
                    return None
            except queue.Empty:
                now = time.monotonic()
                request = next((one for one in self._aside if one.due <= now or not one.wanted()), None)
            if request is not None and (request.items is None or request in self._aside):
                if request in self._aside:
                    self._aside.remove(request)
                return request

    def _run(self, request: Task) -> None:
        """Serve one request until it ends or steps aside. The worker itself survives every fault."""
        if self._closing.is_set() and request.items is None:
            return self._end(request, Closed("the synthesizer was closed"))
        try:
            if request.items is None:
                request.items = request.work(lambda: request.wanted() and not self._closing.is_set())
            for item in request.items:
                if isinstance(item, Aside) and not self._closing.is_set():
                    self._put_aside(request, item)
                    return None
                if not isinstance(item, Aside):
                    request.put((None, item))
                    self._let_others_in()
        except BaseException as fault:  # handed to the caller, who raises it
            return self._end(request, _out_of_memory(fault) or fault)
        return self._end(request, Closed("the synthesizer was closed") if self._closing.is_set() else None)

    def _let_others_in(self) -> None:
        """Between two items of the work that runs: work that is aside for a moment such as this."""
        for one in [one for one in self._aside if one.between is not None and one.between()]:
            self._aside.remove(one)
            self._run(one)

    def _put_aside(self, request: Task, until: Aside) -> None:
        request.between = until.between
        request.due = math.inf if until.seconds is None else time.monotonic() + until.seconds
        self._aside.append(request)
        until.subscribe(request.wake)
        if not request.wanted():  # its caller left just now
            request.wake()

    def _end(self, request: Task, fault: BaseException | None) -> None:
        request.put((_END, fault))
        request.ended()
        request.let_go()


def _until_gone(thread: threading.Thread) -> None:
    """Wait for the system's end of a thread that Python has ended. There MLX lets go of what it compiled and takes the
    interpreter's lock for it, which aborts a process whose interpreter ends meanwhile."""
    if not os.path.isdir("/proc/self/task"):
        time.sleep(0.02)
        return
    end = time.monotonic() + 1.0
    while os.path.exists(f"/proc/self/task/{thread.native_id}") and time.monotonic() < end:
        time.sleep(0.001)


def _refuse_in_a_child_of(process: int) -> None:
    if os.getpid() != process:
        raise Closed("the model was loaded before this process was forked and does not run here: load it again")


def _refuse_on(worker: threading.Thread) -> None:
    if threading.current_thread() is worker:
        raise UsageError(
            "the synthesizer was called from its own thread (in lead or on_progress), where it would wait for itself: "
            "call it from another thread"
        )


def _out_of_memory(fault: BaseException) -> S2Error | None:
    """MLX says so by a `RuntimeError`: `[malloc] Unable to allocate ...` on the CPU, `[metal::malloc] ...` and
    `... Insufficient Memory ...` on a GPU."""
    words = str(fault).lower()
    of_mlx = isinstance(fault, RuntimeError) and ("malloc]" in words or "insufficient memory" in words)
    if of_mlx or isinstance(fault, MemoryError):
        error = GenerationError("out of memory: a smaller model, a shorter text or a shorter reference needs less")
        error.__cause__ = fault
        return error
    return None
