"""A take in the hand: judged, heard, trimmed, made a voice. A part of the recording screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from textual.widgets import Input

from .. import figures
from ..engine_room import Dropped
from ..jobs import Job
from ..speaking import Listening

LONGEST, SHORTEST = 30.0, 5.0  # seconds of a reference

# the states of the recording screen
IDLE, COUNTING, RECORDING, KEEPING, REVIEW, CLONING = "idle", "counting", "recording", "keeping", "review", "cloning"


@dataclass(frozen=True)
class Recorded:
    """What the screen leaves behind: the voice's name, and whether it is to speak at once."""

    name: str
    speak: bool


class TakeReview:
    """Needs of the screen: `app`, `take` (a Trimmer), `card`, `live`, `samples`, `rate`, `cue`, `verdict`, `_enter`."""

    def _took(self, samples: np.ndarray, rate: int, remark: str = "") -> None:
        self.samples, self.rate, self._doubted = samples, rate, False
        self.card.fixed = True
        self._show_take()

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
            if self.live and verdict.ok:
                self.action_save()

        self.app.jobs.start("check", judge, done=show, failed=lambda error: self.verdict(self.app.explain(error)))

    def _show_take(self) -> None:
        self.take.show(self.samples, self.rate)
        self._enter(REVIEW)

    def kept(self) -> np.ndarray:
        """What lies between the handles: float32 [n]."""
        return self.samples[int(self.take.begin * self.rate):int(self.take.end * self.rate)]

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

        self.app.jobs.start("listen", sounding.run, done=lambda _: ended(), failed=ended)
        self._enter(self.state)

    def _hush(self) -> None:
        if self.sounding:
            self.sounding.stop()
            self.sounding = None
            self.take.play_at(None)

    # the voice

    def action_save(self) -> None:
        name, words = self.query_one("#name", Input).value.strip(), self.card.words.strip()
        if not name or not words:
            self.verdict("! a name is needed" if not name else "! the words that were said are needed")
            return
        if name in self.app.voice_names():
            self.verdict(f"! there is a voice {name} already: take another name")
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
            self.dismiss(Recorded(name, self.live))

        def failed(error: BaseException) -> None:
            self._enter(REVIEW)
            self.verdict("cancelled; the take is kept" if self.job.cancel.is_set()
                         else f"! {self.app.explain(error)}  The take is kept.")

        self.job = self.app.jobs.start("clone", make, done=done, failed=failed,
                                       progressed=lambda share, note: self.cue(f"{note}  (esc cancels)"))

    def on_trimmer_trimmed(self) -> None:
        length = self.take.end - self.take.begin
        if length < SHORTEST:
            self.verdict(f"! {figures.seconds(length)} is short: {SHORTEST:.0f} s and more make a better voice")
