"""A take in the hand: judged, heard, trimmed, made a voice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from .. import figures
from ..engine.levels import Levels
from ..jobs import Job, JobCancelled
from ..recording.take_facts import SHORTEST, TakeFacts, look_at
from ..speaking.audible import Replay
from ..state.take_file import UnsavedTake
from ..widgets.trimmer import Trimmer
from .base import AppScreen

if TYPE_CHECKING:
    import numpy as np

    from ..app import S2App

LONGEST = 30.0  # seconds of a reference
BEFORE_THE_END = 1.5  # seconds heard of a cut's end


class Stage(Enum):
    """Where a recording is on its way to a voice; from CHECKING on there is a take in the hand."""

    IDLE = auto()
    COUNTING = auto()
    RECORDING = auto()
    KEEPING = auto()
    CHECKING = auto()
    REVIEW = auto()
    CLONING = auto()


@dataclass(frozen=True)
class NewVoice:
    """What the recording screen leaves behind: the voice's name, whether it is to speak at once, and how many other
    takes of the sitting are kept."""

    name: str
    speak: bool
    others: int = 0


class ReviewBoard(Protocol):
    """The screen around a review: it shows how the review goes, and may act on it."""

    def enter(self, stage: Stage) -> None: ...

    def sound_changed(self) -> None:
        """The take begins or ceases to be heard."""

    def cue(self, text: str) -> None: ...

    def verdict(self, text: str) -> None: ...

    def judged(self, take: UnsavedTake, facts: TakeFacts) -> UnsavedTake:
        """What there is to know of a take is known; the take as it is cut now."""

    def judged_good(self) -> None:
        """A new take will do, and nothing lies above the screen."""

    def voice_made(self, name: str) -> None: ...


class TakeReview:
    """`screen` owns the jobs, `board` (the same screen) shows how they go, `trimmer` has the handles."""

    def __init__(self, screen: AppScreen, board: ReviewBoard, trimmer: Trimmer):
        self._screen, self._board, self._trimmer = screen, board, trimmer
        self.take: UnsavedTake | None = None
        self.replay: Replay | None = None  # what is heard of it
        self._doubted = False  # it makes no good voice, and the user has not insisted yet
        self._cloning: Job | None = None
        self._measured: Job | None = None  # the levels of what is kept
        self._facts: TakeFacts | None = None  # what is known of the take in the hand

    @property
    def _app(self) -> S2App:
        return self._screen.app

    @property
    def samples(self) -> np.ndarray:
        """The whole take: float32 [n], empty without one."""
        import numpy as np

        return self.take.samples if self.take else np.zeros(0, np.float32)

    @property
    def rate(self) -> int:
        return self.take.rate if self.take else 44100

    def drop(self) -> None:
        """There is no take any more."""
        self.take = None
        self._trimmer.clear()

    def kept(self) -> np.ndarray:
        """What lies between the handles: float32 [n]."""
        return self.samples[int(self._trimmer.begin * self.rate) : int(self._trimmer.end * self.rate)]

    def judge(self, take: UnsavedTake, remark: str = "", facts: TakeFacts | None = None, fresh: bool = False) -> None:
        """Another take is in the hand. `remark` stands before the verdict; `facts`: what is known of it already;
        `fresh`: it was recorded just now."""
        self.take, self._doubted, self._facts = take, False, None
        self._trimmer.pauses, self._trimmer.levels = (), ""
        self._trimmer.show(take.samples, take.rate, take.begin, take.end)
        if facts:
            self._judged(take, remark, facts, fresh)
            return
        self._board.enter(Stage.CHECKING)
        studio = self._app.studio

        def failed(error: BaseException) -> None:
            self._board.verdict(f"! {remark}{self._app.explain(error)}")
            self._board.enter(Stage.REVIEW)

        self._app.jobs.start(
            "check",
            lambda job: look_at(studio, take),
            owner=self._screen,
            done=lambda facts: self._judged(take, remark, facts, fresh),
            failed=failed,
        )

    def _judged(self, take: UnsavedTake, remark: str, facts: TakeFacts, fresh: bool) -> None:
        cut = self._board.judged(take, facts)
        if self.take is None or take.samples is not self.take.samples:
            return
        verdict, self.take = facts.verdict, cut
        self._trimmer.pauses = facts.pauses
        self._trimmer.show(cut.samples, cut.rate, cut.begin, cut.end)
        self._measure()
        self._facts = facts
        self._board.verdict(remark + self._words())
        self._doubted = not verdict.usable
        self._board.enter(Stage.REVIEW)
        if fresh and verdict.ok and self._screen.is_active:
            self._board.judged_good()

    def trimmed(self) -> None:
        """The handles were moved."""
        if self._facts:
            self._board.verdict(self._words())
        self._measure()

    def _words(self) -> str:
        """What is to be said of the take as it is cut now."""
        problems = list(self._facts.verdict.problems) if self._facts else []
        length = self._trimmer.end - self._trimmer.begin
        if not problems and length < SHORTEST:
            problems = [f"{figures.seconds(length)} is short: {SHORTEST:.0f} s and more make a better voice"]
        return "! " + "; ".join(problems) if problems else "✓ this will do"

    def _measure(self) -> None:
        """How loud what is kept is, beside its length; the latest cut is what counts."""
        samples, rate, studio = self.kept(), self.rate, self._app.studio

        def done(levels: Levels) -> None:
            if self._measured is job:
                self._trimmer.levels = levels.words
                self._trimmer.refresh()

        job = self._measured = self._app.jobs.start(
            "levels", lambda job: studio.levels(samples, rate), owner=self._screen, done=done
        )

    # hearing it

    @property
    def share_heard(self) -> float:
        """How much of what is kept was heard so far, 0..1; 0 while it is not being heard."""
        if self.replay is None or self.replay.output is None:
            return 0.0
        at = self.replay.begin + self.replay.output.position
        return min(1.0, max(0.0, (at - self._trimmer.begin) / max(1e-3, self._trimmer.end - self._trimmer.begin)))

    def hear_cut(self, at_end: bool) -> None:
        """From the start on, or the last moment before the end."""
        seconds = self._trimmer.end - self._trimmer.begin
        self.listen(max(0.0, 1 - BEFORE_THE_END / seconds) if at_end else 0.0)

    def listen(self, share: float = 0.0, loudness: float = 1.0) -> None:
        """What is kept, from this share of it on; its samples times `loudness`."""
        self.hush()
        app, rate, kept = self._app, self.rate, self.kept()
        skipped = int(share * len(kept))
        sound = kept[skipped:] * loudness if loudness != 1.0 else kept[skipped:]
        begin = self._trimmer.begin + skipped / rate
        replay = self.replay = Replay(sound, lambda: app.open_output(rate), begin)

        def ended(error: BaseException | None = None) -> None:
            if replay is self.replay:
                self.replay = None
                self._trimmer.play_at(None)
                self._board.sound_changed()
            if error:
                self._board.verdict(app.explain(error))

        replay.job = app.jobs.start("listen", replay.run, owner=self._screen, done=lambda _: ended(), failed=ended)
        self._board.sound_changed()

    def hush(self) -> None:
        if self.replay:
            self.replay.stop()
            self.replay = None
            self._trimmer.play_at(None)

    def draw_position(self) -> None:
        if self.replay and self.replay.output:
            self._trimmer.play_at(self.replay.begin + self.replay.output.position)

    # the voice

    def make_voice(self, name: str, words: str) -> None:
        """Clone what is kept, which says `words`, as voice `name`; a take that will not do needs to be told twice."""
        if self._doubted:
            self._doubted = False
            self._board.verdict("! such a take makes a poor voice, or none: ^s once more tries it all the same")
            return
        self.hush()
        app, samples, rate, language = self._app, self.kept(), self.rate, self._app.settings.language
        take = self.take
        self._board.enter(Stage.CLONING)
        self._board.cue("making the voice  (esc cancels)")

        def work(job: Job) -> None:
            if app.loader.engine is None:
                job.report(None, "waiting for the model")
            engine = app.loader.wait(job)
            job.report(None, "encoding the recording")
            clip = (app.studio.with_margin(samples, rate), rate)
            voice = engine.clone(clip, words, name=name, cancel=job.cancel)
            if job.cancel.is_set():
                raise JobCancelled
            app.voices.library.add(name, voice, clip=clip)
            app.session.drop_takes([take] if take else [])

        def done(_: None) -> None:
            app.change(languages={**app.settings.languages, name: language})
            self._board.voice_made(name)

        def failed(error: BaseException) -> None:
            self._board.enter(Stage.REVIEW)
            self._board.verdict(
                "cancelled; the take is kept" if job.cancel.is_set() else f"! {app.explain(error)}  The take is kept."
            )

        job = self._cloning = app.jobs.start(
            "clone",
            work,
            owner=self._screen,
            done=done,
            failed=failed,
            progressed=lambda share, note: self._board.cue(f"{note}  (esc cancels)"),
        )

    def cancel(self) -> None:
        """Give up the cloning."""
        if self._cloning:
            self._cloning.cancel.set()
            self._board.cue("cancelling")
