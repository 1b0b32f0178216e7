"""To the recording screen and back, and what becomes of a take that is not a voice yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..state.session import UnsavedTake
from .form import Question
from .record import COUNTDOWN, RecordScreen
from .review import NewVoice

if TYPE_CHECKING:
    from ..app import S2App


class RecordingFlow:
    """`countdown`: seconds before a recording begins. `use_voice(name, speak)`: what is done with a voice that was
    made."""

    def __init__(self, app: S2App, use_voice: Callable[[str, bool], None], countdown: float = COUNTDOWN):
        self._app, self._use_voice, self._countdown = app, use_voice, countdown
        self._collect: Callable[[], Any] | None = None

    # the recording under way

    def begins(self, collect: Callable[[], Any]) -> None:
        """A take is being recorded; `collect()` ends it and keeps it, on a job's thread."""
        self._collect = collect

    def ends(self) -> None:
        """It is looked after."""
        self._collect = None

    @property
    def running(self) -> bool:
        return self._collect is not None

    def keep_running(self) -> None:
        """Nobody looks at the recording under way any more: give the microphone back and keep what it heard."""
        collect, self._collect = self._collect, None
        if collect:
            self._app.jobs.start("keep take", lambda job: collect())

    # going there and back

    def record(self, live: bool) -> None:
        """To the recording screen; a take that waits there comes first."""
        new = lambda: self._open(RecordScreen(live, countdown=self._countdown))
        take = self._app.session.unsaved_take()
        if take is None:
            new()
        else:
            self._offer(take, ("drop", "Delete it, record anew"), new)

    def offer_kept_take(self) -> None:
        """At the start: a take of an earlier run. Away from the main screen the next recording offers it."""
        take = self._app.session.unsaved_take()
        if take and self._app.screen is self._app.main:
            self._offer(take, ("drop", "Delete it"), lambda: None)

    def leave(self, screen: RecordScreen) -> None:
        """The user leaves the recording with a take in hand."""

        def answered(what: str | None) -> None:
            if what == "drop":
                self._app.session.drop_take()
            if what in ("keep", "drop"):
                screen.dismiss(None)

        self._app.push_screen(
            Question(
                "The take is not a voice yet.", (("stay", "Stay"), ("keep", "Keep it for later"), ("drop", "Delete it"))
            ),
            answered,
        )

    def _open(self, screen: RecordScreen) -> None:
        def back(voice: NewVoice | None) -> None:
            if voice:
                self._use_voice(voice.name, voice.speak)

        self._app.push_screen(screen, back)

    def _offer(self, take: UnsavedTake, drop: tuple[str, str], dropped: Callable[[], None]) -> None:
        """Offer a take that never became a voice; `dropped()` goes on without it."""

        def answered(what: str | None) -> None:
            if what == "review":
                self._open(RecordScreen(recovered=take, countdown=self._countdown))
            elif what == "drop":
                self._app.session.drop_take()
                dropped()

        self._app.push_screen(
            Question(
                f"A recording of {len(take.samples) / take.rate:.1f} s was not made a voice yet.",
                (("review", "Look at it"), ("later", "Not now"), drop),
            ),
            answered,
        )
