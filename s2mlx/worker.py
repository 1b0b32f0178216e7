"""The one thread that MLX work happens on, and the ways in: a call that waits, and a stream of results.

MLX streams are thread-local, so loading, evaluation and generation share this thread. Requests are served in the order
they came.

A forked child has none of its parent's threads: there every request is refused, and a model has to be loaded anew.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .errors import GenerationError, S2Error, UsageError

_END = object()
KeepGoing = Callable[[], bool]  # asked between two pieces of work: is it still wanted?


class Closed(S2Error):
    """The synthesizer was closed while, or before, the request was served; or it belongs to a parent process."""


class Task:
    """One piece of work: a generator function run on the worker, its items read by any thread."""

    def __init__(self, work: Callable[[KeepGoing], Iterator[Any]], cancel: threading.Event | None):
        self.work, self._cancel = work, cancel
        self.abandoned = threading.Event()
        self.results: queue.SimpleQueue[tuple[object, Any]] = (
            queue.SimpleQueue()
        )  # unbounded: a slow listener never holds up the model

    def cancel(self) -> bool:
        """Set the caller's event; False without one."""
        if self._cancel is not None:
            self._cancel.set()
        return self._cancel is not None

    def wanted(self) -> bool:
        return not (self.abandoned.is_set() or (self._cancel is not None and self._cancel.is_set()))


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
        self._request.results.put((_END, None))  # whoever waits for an item waits no longer

    __del__ = close


class Worker:
    def __init__(self, name: str = "s2mlx"):
        self._closing = threading.Event()
        self._requests: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._process = os.getpid()
        # a daemon, so that a process that forgets to close still ends
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def stream(self, work: Callable[[KeepGoing], Iterator[Any]], cancel: threading.Event | None = None) -> Results:
        """Queue `work(keep_going)`, a generator function; returns its items. `keep_going()` turns False when the caller
        cancels, stops listening, or the worker closes: the work then ends by itself."""
        _refuse_in_a_child_of(self._process)
        _refuse_on(self._thread)
        request = Task(work, cancel)
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
        return not self._thread.is_alive()

    def _serve(self) -> None:
        while (request := self._requests.get()) is not None:
            request.results.put((_END, self._run(request)))
            request = None  # while waiting for the next one, this one's model is not held
        while not self._requests.empty():
            request = self._requests.get()
            if request is not None:
                request.results.put((_END, Closed("the synthesizer was closed")))
        self._last()

    def _run(self, request: Task) -> BaseException | None:
        """Serve one request; what it raised, if anything. The worker itself survives every fault."""
        if self._closing.is_set():
            return Closed("the synthesizer was closed")
        try:
            for item in request.work(lambda: request.wanted() and not self._closing.is_set()):
                request.results.put((None, item))
        except BaseException as fault:  # handed to the caller, who raises it
            return _out_of_memory(fault) or fault
        return Closed("the synthesizer was closed") if self._closing.is_set() else None


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
