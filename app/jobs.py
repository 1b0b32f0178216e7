"""Work off the interface thread: one daemon thread a job, results delivered as messages to the app.

A job may hang (a device, a long evaluation); leaving never waits for it longer than asked.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen


class JobCancelled(Exception):
    """The user wants no more of this work."""


class Job:
    """One piece of work. `cancel` is for the work to look at; `report` may be called from its thread."""

    def __init__(
        self,
        what: str,
        app: App,
        owner: Screen | None,
        done: Callable | None,
        failed: Callable | None,
        progressed: Callable | None,
    ):
        self.what, self.owner = what, owner
        self.cancel = threading.Event()
        self._thread: threading.Thread | None = None
        self._app = app
        self.done, self.failed, self.progressed = done, failed, progressed

    def run_in(self, thread: threading.Thread) -> None:
        self._thread = thread
        thread.start()

    def join(self, seconds: float) -> None:
        if self._thread:
            self._thread.join(seconds)

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def report(self, fraction: float | None, note: str = "") -> None:
        """Say how far the work is: 0..1, or None when nobody knows."""
        deliver(self._app, JobProgressed(self, fraction, note))


class JobProgressed(Message):
    def __init__(self, job: Job, fraction: float | None, note: str):
        super().__init__()
        self.job, self.fraction, self.note = job, fraction, note


class JobEnded(Message):
    """Posted once for each job: with a result, or with the error it raised."""

    def __init__(self, job: Job, result: Any = None, error: BaseException | None = None):
        super().__init__()
        self.job, self.result, self.error = job, result, error


class Jobs:
    """The jobs under way."""

    def __init__(self, app: App):
        self._app = app
        self.running: list[Job] = []

    def start(
        self,
        what: str,
        work: Callable[[Job], Any],
        *,
        owner: Screen | None = None,
        done: Callable[[Any], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
        progressed: Callable[[float | None, str], None] | None = None,
    ) -> Job:
        """Run `work(job)` on its own thread. `done(result)`, `failed(error)`, `progressed(fraction, note)` are called
        on the interface thread, while the screen `owner` is there: they draw on it. Without an owner they concern the
        whole app. Without `failed` the app shows the error."""
        job = Job(what, self._app, owner, done, failed, progressed)
        context = contextvars.copy_context()

        def body() -> None:
            try:
                ended = JobEnded(job, result=work(job))
            except BaseException as error:  # handed over whole: the app shows it and writes it to the log
                ended = JobEnded(job, error=error)
            deliver(self._app, ended)

        self.running.append(job)
        job.run_in(threading.Thread(target=lambda: context.run(body), name=f"s2mlx-{what}", daemon=True))
        return job

    def ended(self, job: Job) -> None:
        if job in self.running:
            self.running.remove(job)

    def leave(self, seconds: float) -> bool:
        """Cancel everything and wait up to `seconds` in all. True when every thread has ended."""
        for job in self.running:
            job.cancel.set()
        until = time.monotonic() + seconds
        for job in self.running:
            job.join(max(0.0, until - time.monotonic()))
        return not any(job.alive for job in self.running)


def deliver(to: MessagePump, message: Message) -> None:
    """Post a message from any thread. When the app has gone, and its loop is closed, nobody is told."""
    with suppress(RuntimeError):
        to.post_message(message)


def aside(work: Callable[[], Any], what: str = "aside") -> None:
    """Run something that might hang and whose result nobody needs, such as stopping a device."""
    threading.Thread(target=work, name=f"s2mlx-{what}", daemon=True).start()
