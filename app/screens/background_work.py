"""One piece of work that the main screen tells of and escape cancels: encoding, importing, renaming, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..jobs import Job
from .activity import Situation, Working
from .base import AppScreen


class BackgroundWork:
    """`changed()` is called whenever work begins or ends."""

    def __init__(self, screen: AppScreen, situation: Situation, changed: Callable[[], None]):
        self._screen, self._situation, self._changed = screen, situation, changed
        self.job: Job | None = None  # the one under way

    def start(
        self,
        name: str,
        what: str,
        work: Callable[[Job], Any],
        done: Callable[[Any], None],
        failed: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Run `work(job)` on a thread, then `done(result)` or `failed(error)`; `what` says what is going on. Without
        `failed` the app shows the error."""
        app = self._screen.app

        def ended(then: Callable[[Any], None]) -> Callable[[Any], None]:
            def call(result: Any) -> None:
                self.job = None
                self._changed()
                then(result)

            return call

        self._situation.enter(Working(what))
        self.job = app.jobs.start(
            name,
            work,
            done=ended(done),
            failed=ended(failed or app.complain),
            progressed=lambda share, note: self._situation.enter(Working(note)),
        )
        self._changed()

    def cancel(self) -> None:
        if self.job:
            self.job.cancel.set()
