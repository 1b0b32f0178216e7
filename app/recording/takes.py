"""Going to the recording screen and back, and what becomes of a take that is not a voice yet. A part of the app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..screens.form import Question
from ..screens.record import Recorded, RecordScreen
from ..state.session import Recovered


class Takes:
    """Needs of the app: `session`, `jobs`, `_main`, `_countdown` (options of the recording screen)."""

    running_take: Callable[[], Any] | None = None  # ends the recording under way and keeps it

    def keep_running_take(self) -> None:
        """Nobody looks at the recording under way any more: give the microphone back and keep what it heard."""
        collect, self.running_take = self.running_take, None
        if collect:
            self.jobs.start("keep take", lambda job: collect())

    def record(self, live: bool) -> None:
        """To the recording screen; a take that waits there comes first."""
        new = lambda: self._open_recording(RecordScreen(live, **self._countdown))
        take = self.session.unsaved_take()
        if take is None:
            new()
        else:
            self._offer_take(take, ("drop", "Delete it, record anew"), new)

    def _open_recording(self, screen: RecordScreen) -> None:
        def back(recorded: Recorded | None) -> None:
            if recorded:
                self._main.use_voice(recorded.name, recorded.speak)

        self.push_screen(screen, back)

    def offer_kept_take(self) -> None:
        take = self.session.unsaved_take()
        if take and self.screen is self._main:  # elsewhere the recording screen offers it
            self._offer_take(take, ("drop", "Delete it"), lambda: None)

    def _offer_take(self, take: Recovered, drop: tuple[str, str], dropped: Callable[[], None]) -> None:
        """Offer a take that never became a voice; `dropped()` goes on without it."""

        def answered(what: str | None) -> None:
            if what == "review":
                self._open_recording(RecordScreen(recovered=take, **self._countdown))
            elif what == "drop":
                self.session.drop_take()
                dropped()

        self.push_screen(
            Question(
                f"A recording of {len(take.samples) / take.rate:.1f} s was not made a voice yet.",
                (("review", "Look at it"), ("later", "Not now"), drop),
            ),
            answered,
        )

    def leave_take(self, screen: RecordScreen) -> None:
        """The user leaves the recording with a take in hand."""

        def answered(what: str | None) -> None:
            if what == "drop":
                self.session.drop_take()
            if what in ("keep", "drop"):
                screen.dismiss(None)

        self.push_screen(
            Question(
                "The take is not a voice yet.", (("stay", "Stay"), ("keep", "Keep it for later"), ("drop", "Delete it"))
            ),
            answered,
        )
