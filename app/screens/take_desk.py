"""A part of the recording screen: the takes of the sitting side by side, compared, marked, deleted, brought back, and
kept as they are now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from textual.timer import Timer

from ..engine.levels import matched
from ..jobs import Job
from ..recording.take_facts import TakeFacts, look_at
from ..recording.takes import Takes
from ..state.take_file import UnsavedTake
from ..widgets.take_table import TakeTable
from .base import AppScreen
from .review import TakeReview

if TYPE_CHECKING:
    from ..app import S2App

KEEP_AFTER = 0.5  # seconds after the last change


class Desk(Protocol):
    """The screen around the takes."""

    def verdict(self, text: str) -> None: ...

    def show_words(self, take: UnsavedTake) -> None:
        """Show the words that were read for a take."""

    def no_takes(self) -> None:
        """The last one was deleted."""


class TakeDesk:
    """`review` has the take in the hand, `list_` shows them all. `words()` and `name()`: what stands on the screen."""

    def __init__(
        self,
        screen: AppScreen,
        desk: Desk,
        list_: TakeTable,
        review: TakeReview,
        takes: Sequence[UnsavedTake],
        words: Callable[[], str],
        name: Callable[[], str],
    ):
        self._screen, self._desk, self._list, self._review = screen, desk, list_, review
        self._words, self._name = words, name
        self.takes = Takes(takes)
        self.can_undo = False
        self._timer: Timer | None = None
        self._changed: set[int] = set()  # ids of the samples of takes that are not kept as they are now

    @property
    def _app(self) -> S2App:
        return self._screen.app

    def mounted(self) -> None:
        """Look at those that came from an earlier sitting, but for the one in the hand, which is judged anyway."""
        self._draw()
        self._look_for_thrown_away()
        others = [judged.take for n, judged in enumerate(self.takes.all) if n != self.takes.at]
        if others:
            studio = self._app.studio

            def work(job: Job) -> list[tuple[UnsavedTake, TakeFacts]]:
                return [(take, look_at(studio, take)) for take in others if not job.cancel.is_set()]

            def done(found: list[tuple[UnsavedTake, TakeFacts]]) -> None:
                for take, facts in found:
                    self.takes.judged(take, facts)
                self._draw()

            self._app.jobs.start("look at takes", work, owner=self._screen, done=done)

    def _draw(self) -> None:
        self._list.show(self.takes.all, self.takes.at)
        self._list.display = len(self.takes) > 1
        self._screen.refresh_bindings()

    # one in the hand

    def took(self, take: UnsavedTake, remark: str) -> None:
        self.takes.add(take)
        self.look(remark, fresh=True)

    def look(self, remark: str = "", fresh: bool = False) -> None:
        """Show and judge the one in the hand; `fresh`: it was recorded just now."""
        self._draw()
        self._review.judge(self.takes.in_hand, remark, self.takes.facts, fresh)

    def judged(self, take: UnsavedTake, facts: TakeFacts) -> UnsavedTake:
        """The review has looked at it; as it is cut then."""
        self.takes.judged(take, facts)
        self._draw()
        return self.takes.in_hand

    def go(self, number: int) -> None:
        """Another take, with the words that were read for it."""
        if not 0 <= number < len(self.takes) or number == self.takes.at:
            return
        self._review.hush()
        self.note()
        self.takes.go(number)
        self._desk.show_words(self.takes.in_hand)
        self.look()

    # what the user asks for

    def allows(self, what: str) -> bool:
        """Whether `do` makes sense now."""
        if what == "bring_back":
            return self.can_undo
        return bool(self.takes) if what == "throw_away" else len(self.takes) > 1

    def do(self, what: str) -> None:
        {
            "before": lambda: self.go((self.takes.at - 1) % len(self.takes)),
            "next": lambda: self.go((self.takes.at + 1) % len(self.takes)),
            "compare": self.compare,
            "mark_best": self.mark_best,
            "throw_away": self.throw_away,
            "bring_back": self.bring_back,
        }[what]()

    # what is kept of them

    def note(self, **cut: float) -> list[UnsavedTake]:
        """All takes, the one in the hand with the words and the name that stand here now; what is new is kept soon."""
        if self.takes:
            before = self.takes.in_hand
            self.takes.note(transcript=self._words(), name=self._name(), **cut)
            after = self.takes.in_hand
            if (before.transcript, before.name, before.begin, before.end) != (
                after.transcript,
                after.name,
                after.begin,
                after.end,
            ):
                self._keep(after)
                self._draw()
        return [judged.take for judged in self.takes.all]

    def _keep(self, *takes: UnsavedTake) -> None:
        self._changed |= {id(take.samples) for take in takes}
        if self._timer:
            self._timer.stop()
        self._timer = self._screen.set_timer(KEEP_AFTER, self.keep_now)

    def keep_now(self) -> None:
        """Write what was changed."""
        changed, self._changed = self._changed, set()
        takes = [judged.take for judged in self.takes.all if id(judged.take.samples) in changed and judged.take.file]
        if takes:
            self._app.recordings.keep_anew(takes)

    # compared, marked, deleted

    def compare(self) -> None:
        """To the other take and back, from the same share of it on, as loud as the softer of the two."""
        other = self.takes.other
        if other is None:
            return
        share = self._review.share_heard
        self.go(other)
        pair = [self.takes.all[n].facts for n in (self.takes.at, self.takes.other) if n is not None]
        speech = [facts.levels.speech for facts in pair if facts]
        loudness = matched(speech)[0] if len(speech) == 2 else 1.0
        self._review.listen(share, loudness)
        self._desk.verdict(
            f"hearing take {self.takes.at + 1}, as loud as take {(self.takes.other or 0) + 1}: x changes"
        )

    def mark_best(self) -> None:
        best = self.takes.mark_best()
        self._keep(*(judged.take for judged in self.takes.all))
        self._draw()
        self._desk.verdict(
            f"take {self.takes.at + 1} is the best: ^s makes it a voice" if best else "no take is the best"
        )

    def throw_away(self) -> None:
        self._review.hush()
        self.note()
        self.keep_now()
        number, take = self.takes.at + 1, self.takes.remove()

        def done(_: None) -> None:
            self._look_for_thrown_away()
            self._desk.verdict(f"take {number} is deleted: u brings it back")

        self._app.jobs.start(
            "delete take", lambda job: self._app.session.throw_away([take]), owner=self._screen, done=done
        )
        if self.takes:
            self._desk.show_words(self.takes.in_hand)
            self.look()
        else:
            self._draw()
            self._desk.no_takes()

    def bring_back(self) -> None:
        """The take that was deleted last, whenever that was."""

        def done(take: UnsavedTake | None) -> None:
            self._look_for_thrown_away()
            if take:
                self.note()
                self.takes.add(take)
                self._desk.show_words(take)
                self.look("it is back: ")

        self._app.jobs.start("bring back", lambda job: self._app.session.bring_back(), owner=self._screen, done=done)

    def _look_for_thrown_away(self) -> None:
        def done(some: bool) -> None:
            self.can_undo = some
            self._screen.refresh_bindings()

        self._app.jobs.start(
            "look for deleted takes", lambda job: self._app.session.has_thrown_away(), owner=self._screen, done=done
        )
