"""To the recording screen and back, and what becomes of a take that is not a voice yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..state.take_file import UnsavedTake

if TYPE_CHECKING:
    from ..app import S2App
    from .record import RecordScreen
    from .review import NewVoice

COUNTDOWN = 3.0  # seconds before a recording begins


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
        new = lambda: self._open(live)
        takes = self._unsaved()
        if takes:
            self._offer(takes, ", record anew", new)
        else:
            new()

    def review(self, takes: Sequence[UnsavedTake]) -> None:
        """To the recording screen with takes of before in hand."""
        self._open(recovered=takes)

    def offer_kept_takes(self) -> None:
        """At the start: takes of an earlier run. Away from the main screen the next recording offers them."""
        takes = self._unsaved()
        if takes and self._app.screen is self._app.main:
            self._offer(takes, "", lambda: None)

    def _unsaved(self) -> list[UnsavedTake]:
        takes = self._app.session.unsaved_takes()
        self._app.tell_of_damage()
        return takes

    def leave(self, screen: RecordScreen) -> None:
        """The user leaves the recording with takes in hand."""
        takes = screen.desk.note()

        def answered(what: str | None) -> None:
            if what == "drop":
                self._app.session.throw_away(takes)
            elif what == "keep":
                self.keep_anew(takes)
            if what in ("keep", "drop"):
                screen.dismiss(None)

        one = len(takes) == 1
        question = "The take is not a voice yet." if one else f"{len(takes)} takes are not voices yet."
        answers = ("stay", "Stay"), ("keep", f"Keep {_them(takes)} for later"), ("drop", f"Delete {_them(takes)}")
        self._ask(question, answers, answered)

    def keep_anew(self, takes: Sequence[UnsavedTake]) -> None:
        """Keep them with the words and names they have now."""
        session = self._app.session
        self._app.jobs.start("keep takes", lambda job: [session.keep_anew(take) for take in takes])

    def _open(self, live: bool = False, recovered: Sequence[UnsavedTake] = ()) -> None:
        from .record import RecordScreen  # with the first use: the app's first picture waits for nothing

        def back(voice: NewVoice | None) -> None:
            if voice:
                self._use_voice(voice.name, voice.speak)
                if voice.others and not voice.speak:
                    more = "1 other take is" if voice.others == 1 else f"{voice.others} other takes are"
                    self._app.main.say(f"voice {voice.name} is ready: ^s speaks; {more} kept, ^r shows them")

        self._app.push_screen(RecordScreen(live, recovered, self._countdown), back)

    def _offer(self, takes: Sequence[UnsavedTake], then: str, dropped: Callable[[], None]) -> None:
        """Offer takes that never became voices; `dropped()` goes on without them, as the words `then` say."""

        def answered(what: str | None) -> None:
            if what == "review":
                self.review(takes)
            elif what == "drop":
                self._app.session.throw_away(takes)
                dropped()

        question = (
            f"A recording of {len(takes[0].samples) / takes[0].rate:.1f} s was not made a voice yet."
            if len(takes) == 1
            else f"{len(takes)} recordings were not made voices yet."
        )
        them = _them(takes)
        answers = ("review", f"Look at {them}"), ("later", "Not now"), ("drop", f"Delete {them}{then}")
        self._ask(question, answers, answered)

    def _ask(self, question: str, answers: Sequence[tuple[str, str]], answered: Callable[[str | None], None]) -> None:
        from .form import Question

        self._app.push_screen(Question(question, answers), answered)


def _them(takes: Sequence[UnsavedTake]) -> str:
    return "it" if len(takes) == 1 else "them"
