"""A take in the hand: judged, heard, trimmed, made a voice. A part of the recording screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from textual.widgets import Input

from .. import figures
from ..engine.loader import Dropped
from ..jobs import Job
from ..speaking.utterance import Listening

LONGEST, SHORTEST = 30.0, 5.0  # seconds of a reference

# the states of the recording screen
IDLE, COUNTING, RECORDING, KEEPING = "idle", "counting", "recording", "keeping"
CHECKING, REVIEW, CLONING = "checking", "review", "cloning"  # with a take in the hand


@dataclass(frozen=True)
class Recorded:
    """What the screen leaves behind: the voice's name, and whether it is to speak at once."""

    name: str
    speak: bool


class TakeReview:
    """Needs of the screen: `app`, `take` (a Trimmer), `card`, `live`, `samples`, `rate`, `cue`, `verdict`, `_enter`."""

    _recorded: Recorded | None = None  # what to leave with

    def _took(self, samples: np.ndarray, rate: int, remark: str = "") -> None:
        self.samples, self.rate, self._doubted = samples, rate, False
        self.card.fixed = True
        self._show_take()
        self._enter(CHECKING)

        def judge(job: Job):
            return self.app.studio.check(samples, rate), self.app.studio.speech_in(samples, rate)

        def show(result) -> None:
            verdict, (begin, end) = result
            self.take.show(samples, rate)
            self.take.begin, self.take.end = begin, end
            self.take.refresh()
            self.verdict(remark + ("✓ this will do" if verdict.ok else "! " + "; ".join(verdict.problems)))
            self._doubted = not verdict.usable
            self._enter(REVIEW)
            if self.live and verdict.ok and self.is_active:  # not under a question whether to keep it
                self.action_save()

        def failed(error: BaseException) -> None:
            self.verdict(f"! {remark}{self.app.explain(error)}")
            self._enter(REVIEW)

        self.app.jobs.start("check", judge, owner=self, done=show, failed=failed)

    def _show_take(self) -> None:
        self.take.show(self.samples, self.rate)

    def kept(self) -> np.ndarray:
        """What lies between the handles: float32 [n]."""
        return self.samples[int(self.take.begin * self.rate) : int(self.take.end * self.rate)]

    def action_listen(self) -> None:
        self._hush()
        sounding = Listening(self.kept(), lambda: self.app.open_player(self.rate), self.take.begin)
        self.sounding = sounding

        def ended(error: BaseException | None = None) -> None:
            if sounding is self.sounding:
                self.sounding = None
                self.take.play_at(None)
                self._enter(self.state)
            if error:
                self.verdict(self.app.explain(error))

        sounding.job = self.app.jobs.start("listen", sounding.run, owner=self, done=lambda _: ended(), failed=ended)
        self._enter(self.state)

    def _hush(self) -> None:
        if self.sounding:
            self.sounding.stop()
            self.sounding = None
            self.take.play_at(None)

    # the voice

    def action_save(self) -> None:
        name, words = self.query_one("#name", Input).value.strip(), self.card.words.strip()
        if not words:
            self.verdict("! the words that were said are needed")
            return
        trouble = self.app.name_trouble(name)
        if trouble:
            self.verdict(f"! {trouble}")
            self.query_one("#name", Input).focus()
            return
        if self._doubted:
            self._doubted = False
            self.verdict("! such a take makes a poor voice, or none: ^s once more tries it all the same")
            return
        self._hush()
        samples, rate, language = self.kept(), self.rate, self.app.settings.language
        self._enter(CLONING)
        self.cue("making the voice  (esc cancels)")

        def make(job: Job) -> None:
            if self.app.room.engine is None:
                job.report(None, "waiting for the model")
            engine = self.app.room.wait(job)
            job.report(None, "encoding the recording")
            clip = (self.app.studio.with_margin(samples, rate), rate)
            voice = engine.clone(clip, words, name=name, cancel=job.cancel)
            if job.cancel.is_set():
                raise Dropped
            self.app.library.add(name, voice, clip=clip)
            self.app.session.drop_take()

        def done(_) -> None:
            self.app.change(languages={**self.app.settings.languages, name: language})
            self._recorded = Recorded(name, self.live)
            self.on_screen_resume()

        def failed(error: BaseException) -> None:
            self._enter(REVIEW)
            self.verdict(
                "cancelled; the take is kept"
                if self.job.cancel.is_set()
                else f"! {self.app.explain(error)}  The take is kept."
            )

        self.job = self.app.jobs.start(
            "clone",
            make,
            owner=self,
            done=done,
            failed=failed,
            progressed=lambda share, note: self.cue(f"{note}  (esc cancels)"),
        )

    def on_screen_resume(self) -> None:
        """With the voice made there is no more to do here; a help or a dialog above is read to its end first."""
        if self._recorded and self.is_active:
            self.dismiss(self._recorded)

    def on_trimmer_trimmed(self) -> None:
        length = self.take.end - self.take.begin
        if length < SHORTEST:
            self.verdict(f"! {figures.seconds(length)} is short: {SHORTEST:.0f} s and more make a better voice")
