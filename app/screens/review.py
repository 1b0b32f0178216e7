"""A take in the hand: judged, heard, trimmed, made a voice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from .. import figures
from ..engine.protocols import TakeVerdict
from ..jobs import Job, JobCancelled
from ..speaking.audible import Replay
from ..state.take_file import UnsavedTake
from ..widgets.trimmer import Trimmer
from .base import AppScreen

if TYPE_CHECKING:
    import numpy as np

    from ..app import S2App

LONGEST, SHORTEST = 30.0, 5.0  # seconds of a reference


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
    """What the recording screen leaves behind: the voice's name, and whether it is to speak at once."""

    name: str
    speak: bool


class ReviewBoard(Protocol):
    """The screen around a review: it shows how the review goes, and may act on it."""

    def enter(self, stage: Stage) -> None: ...

    def sound_changed(self) -> None:
        """The take begins or ceases to be heard."""

    def cue(self, text: str) -> None: ...

    def verdict(self, text: str) -> None: ...

    def judged_good(self) -> None:
        """The take will do, and nothing lies above the screen."""

    def voice_made(self, name: str) -> None: ...


class TakeReview:
    """`screen` owns the jobs, `board` (the same screen) shows how they go, `trimmer` has the handles."""

    def __init__(self, screen: AppScreen, board: ReviewBoard, trimmer: Trimmer):
        self._screen, self._board, self._trimmer = screen, board, trimmer
        self.take: UnsavedTake | None = None
        self.replay: Replay | None = None  # what is heard of it
        self._doubted = False  # it makes no good voice, and the user has not insisted yet
        self._cloning: Job | None = None

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

    def show(self) -> None:
        self._trimmer.show(self.samples, self.rate)

    def kept(self) -> np.ndarray:
        """What lies between the handles: float32 [n]."""
        return self.samples[int(self._trimmer.begin * self.rate) : int(self._trimmer.end * self.rate)]

    def judge(self, take: UnsavedTake, remark: str = "") -> None:
        """Another take is in the hand. `remark` stands before the verdict."""
        self.take, self._doubted = take, False
        samples, rate = take.samples, take.rate
        self.show()
        self._board.enter(Stage.CHECKING)
        studio = self._app.studio

        def work(job: Job) -> tuple[TakeVerdict, tuple[float, float]]:
            return studio.judge_take(samples, rate), studio.speech_in(samples, rate)

        def done(result: tuple[TakeVerdict, tuple[float, float]]) -> None:
            verdict, (begin, end) = result
            self._trimmer.show(samples, rate, begin, end)
            self._trimmer.refresh()
            self._board.verdict(remark + ("✓ this will do" if verdict.ok else "! " + "; ".join(verdict.problems)))
            self._doubted = not verdict.usable
            self._board.enter(Stage.REVIEW)
            if verdict.ok and self._screen.is_active:
                self._board.judged_good()

        def failed(error: BaseException) -> None:
            self._board.verdict(f"! {remark}{self._app.explain(error)}")
            self._board.enter(Stage.REVIEW)

        self._app.jobs.start("check", work, owner=self._screen, done=done, failed=failed)

    def trimmed(self) -> None:
        """The handles were moved."""
        length = self._trimmer.end - self._trimmer.begin
        if length < SHORTEST:
            self._board.verdict(f"! {figures.seconds(length)} is short: {SHORTEST:.0f} s and more make a better voice")

    # hearing it

    def listen(self) -> None:
        self.hush()
        app, rate = self._app, self.rate
        replay = self.replay = Replay(self.kept(), lambda: app.open_output(rate), self._trimmer.begin)

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
