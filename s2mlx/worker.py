"""The one thread that MLX work happens on, and the ways in: a call that waits, and a stream of results.

MLX streams are thread-local, so loading, evaluation and generation share this thread. Requests are served in the order
they came. Knows nothing of speech.

A process that forks after a worker exists has no worker in the child: load the model in the child.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .errors import S2Error

_END = object()


class Closed(S2Error):
    """The synthesizer was closed while, or before, the request was served."""


class Request:
    """One piece of work: a generator function run on the worker, its items read by any thread."""

    def __init__(self, work: Callable[[Callable[[], bool]], Iterator[Any]], cancel: threading.Event | None):
        self.work, self._cancel = work, cancel
        self.abandoned = threading.Event()
        self.results: queue.SimpleQueue = queue.SimpleQueue()  # unbounded: a slow listener never holds up the model

    def wanted(self) -> bool:
        return not (self.abandoned.is_set() or (self._cancel is not None and self._cancel.is_set()))

    def items(self) -> Iterator[Any]:
        """The results as they come. Closing this iterator abandons the request; an error of the work is raised here."""
        try:
            while True:
                kind, value = self.results.get()
                if kind is _END:
                    if value is not None:
                        raise value
                    return
                yield value
        finally:
            self.abandoned.set()


class Worker:
    def __init__(self, name: str = "s2mlx"):
        self._closing = threading.Event()
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        # a daemon, so that a process that forgets to close still ends
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def stream(self, work: Callable[[Callable[[], bool]], Iterator[Any]],
               cancel: threading.Event | None = None) -> Iterator[Any]:
        """Queue `work(keep_going)`, a generator function; returns its items. `keep_going()` turns False when the caller
        cancels, stops listening, or the worker closes: the work then ends by itself."""
        request = Request(work, cancel)
        with self._lock:
            if self._closing.is_set():
                raise Closed("the synthesizer is closed")
            self._requests.put(request)
        return request.items()

    def call(self, function: Callable[[Callable[[], bool]], Any], cancel: threading.Event | None = None) -> Any:
        """Run `function(keep_going)` on the worker and return its result."""
        [result] = self.stream(lambda keep_going: iter([function(keep_going)]), cancel)
        return result

    def close(self, timeout: float = 2.0) -> bool:
        """End the thread; whatever it is doing is cancelled, what waits is refused. True if it ended in time."""
        with self._lock:
            self._closing.set()
            self._requests.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        while (request := self._requests.get()) is not None:
            request.results.put((_END, self._run(request)))
        while not self._requests.empty():
            request = self._requests.get()
            if request is not None:
                request.results.put((_END, Closed("the synthesizer was closed")))

    def _run(self, request: Request) -> BaseException | None:
        """Serve one request; what it raised, if anything. The worker itself survives every fault."""
        if self._closing.is_set():
            return Closed("the synthesizer was closed")
        try:
            for item in request.work(lambda: request.wanted() and not self._closing.is_set()):
                request.results.put((None, item))
        except BaseException as fault:  # handed to the caller, who raises it
            return fault
        return Closed("the synthesizer was closed") if self._closing.is_set() else None
