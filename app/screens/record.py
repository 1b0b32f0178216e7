"""The recording screen: choose a microphone, read a sentence, look at the take, trim it, name it, make it a voice.

In live mode it starts at once, and a good take becomes a voice and speaks without another key.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Label, Select

from .. import figures
from ..jobs import Job
from ..recording.live_take import Taking
from ..speaking.utterance import Listening
from ..state.session import Recovered
from ..widgets.device_select import DeviceSelect
from ..widgets.key_line import KeyLine
from ..widgets.level_meter import LevelMeter
from ..widgets.reading_card import ReadingCard
from ..widgets.transport import Transport
from ..widgets.trimmer import Trimmer
from .review import (
    CHECKING,
    CLONING,
    COUNTING,
    IDLE,
    KEEPING,
    LONGEST,
    RECORDING,
    REVIEW,
    SHORTEST,
    Recorded,
    TakeReview,
)

if TYPE_CHECKING:
    from ..app import S2App

TICK = 1 / 20
COUNTDOWN = 3.0  # seconds before the recording begins

BUTTONS = (
    ("record", "● Record", "^r"),
    ("stop", "■ Stop", "esc"),
    ("listen", "▶ Listen", "^b"),
    ("save", "▼ Save voice", "^s"),
    ("back", "Back", "esc"),
)


class RecordScreen(TakeReview, Screen[Recorded | None]):
    app: S2App

    BINDINGS = [
        Binding("ctrl+r", "record", "Record", show=False),
        Binding("ctrl+l", "record", "Record", show=False),
        Binding("space,enter", "toggle", "Record/stop", show=False),
        Binding("ctrl+b", "listen", "Listen", show=False),
        Binding("ctrl+s", "save", "Save voice", show=False),
        Binding("ctrl+n", "next_sentence", "Next sentence"),
        Binding("escape", "back", "Stop/back"),
        Binding("question_mark", "app.help", "Help", key_display="?/F1"),
        Binding("f1", "app.help", "Help", key_display="F1"),  # shown where ? is typed
    ]

    def __init__(self, live: bool = False, recovered: Recovered | None = None, countdown: float = COUNTDOWN):
        super().__init__()
        self.live, self.recovered = live, recovered
        self.state = IDLE
        self.taking: Taking | None = None
        self.samples = np.zeros(0, np.float32)
        self.rate = 44100
        self.sounding: Listening | None = None
        self.job: Job | None = None
        self._countdown, self._until = countdown, 0.0
        self._turn = 0

    def compose(self) -> ComposeResult:
        yield Label(
            "Live clone: record, and hear the text in that voice" if self.live else "Record a voice", classes="title"
        )
        with Horizontal(id="choices"):
            yield Label("Microphone ")
            yield DeviceSelect("input", id="input")
        words = self.recovered.transcript if self.recovered else None
        yield ReadingCard(self.app.settings.language, words, self.longest, id="card")
        yield Label("", id="cue", markup=False)
        yield LevelMeter(id="meter")
        yield Trimmer("press space, wait for the count, and read the sentence aloud", id="take")
        yield Label("", id="verdict", markup=False)
        with Horizontal(id="naming"):
            yield Label("Name ")
            yield Input(placeholder="a name for the voice", id="name", compact=True)
        yield Transport(BUTTONS, id="transport")
        yield KeyLine()

    @property
    def longest(self) -> float:
        """Seconds of a voice that the loaded model follows."""
        engine = self.app.room.engine
        return engine.config.reference_seconds if engine else math.inf

    meter = property(lambda self: self.query_one(LevelMeter))
    take = property(lambda self: self.query_one(Trimmer))
    card = property(lambda self: self.query_one(ReadingCard))

    def on_mount(self) -> None:
        self._ticking = self.set_interval(TICK, self.tick, pause=True)
        self.query_one("#name", Input).value = (
            self.recovered.name if self.recovered else self.app.free_name("live" if self.live else "me")
        )
        self.app.jobs.start(
            "devices",
            lambda job: self.app.studio.devices(),
            owner=self,
            done=lambda devices: self.query_one(DeviceSelect).show(devices, self.app.settings.input),
            failed=lambda error: self.verdict(f"! {self.app.explain(error)}"),
        )
        self.take.focus()
        self._enter(IDLE)
        if self.recovered:
            self._took(self.recovered.samples, self.recovered.rate)
        elif self.live:
            self.action_record()

    def on_unmount(self) -> None:
        self._hush()
        if self.app.running_take:
            self.app.keep_running_take()
        elif self.taking:
            self.taking.drop()

    # choices

    @on(Select.Changed, "#input")
    def _input_chosen(self) -> None:
        self.app.change(input=self.query_one(DeviceSelect).chosen)

    @on(ReadingCard.LanguageChosen)
    def _language_chosen(self, event: ReadingCard.LanguageChosen) -> None:
        self.app.change(language=event.language)

    def action_next_sentence(self) -> None:
        self.card.next()

    # states

    def _enter(self, state: str) -> None:
        self.state = state
        self.query_one(Transport).allow(
            *{
                IDLE: ("record", "back"),
                COUNTING: ("stop",),
                RECORDING: ("stop",),
                KEEPING: (),
                CHECKING: ("back",),
                REVIEW: ("record", "listen", "save", "back"),
                CLONING: ("stop",),
            }[state]
        )
        moving = state in (COUNTING, RECORDING) or self.sounding is not None
        self._ticking.resume() if moving else self._ticking.pause()
        if state == IDLE:
            self.cue(
                f"{SHORTEST:.0f} to {LONGEST:.0f} seconds; ten are good. Space starts and stops."
                if self.longest > LONGEST
                else f"{self.longest:.0f} seconds: this model follows no more of a voice. Space starts and stops."
            )
        elif state == REVIEW:
            self.cue("^b listens, arrows trim, ^s makes it a voice, ^r records again")
        self.refresh_bindings()

    def cue(self, text: str) -> None:
        self.query_one("#cue", Label).update(text)

    def verdict(self, text: str) -> None:
        self.query_one("#verdict", Label).update(text)

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        if action in ("listen", "save"):
            return self.state == REVIEW
        if action in ("record", "next_sentence"):
            return self.state in (IDLE, REVIEW)
        return True

    @on(Transport.Asked)
    def _asked(self, event: Transport.Asked) -> None:
        {
            "record": self.action_record,
            "stop": self.action_stop,
            "listen": self.action_listen,
            "save": self.action_save,
            "back": self.action_back,
        }[event.what]()

    def action_toggle(self) -> None:
        if self.state in (IDLE, REVIEW):
            self.action_record()
        elif self.state != CHECKING:
            self.action_stop()

    def action_record(self) -> None:
        self._hush()
        self.verdict("")
        self.meter.reset()
        self.take.clear()
        self._until = time.monotonic() + self._countdown
        card, name, session = self.card, self.query_one("#name", Input), self.app.session
        self.taking = Taking(
            self.app.studio,
            self.app.jobs,
            session.spool,
            lambda samples, rate: session.keep_take(samples, rate, card.words, name.value),
        )
        self.taking.start(self.app.settings.input, self._record_failed)
        self._enter(COUNTING)

    def _record_failed(self, error: BaseException) -> None:
        self._drop()
        self.verdict(f"! {self.app.explain(error)}")

    def _drop(self) -> None:
        """End a recording without a new take; the one before, if any, is shown again."""
        if self.taking:
            self.taking.drop()
        self.taking = None
        if len(self.samples):
            self._show_take()
            self._enter(REVIEW)
        else:
            self._enter(IDLE)

    def action_stop(self) -> None:
        if self.state == RECORDING:
            self._finish_recording()
        elif self.state == COUNTING:
            self._drop()
        elif self.state == CLONING:
            self.job.cancel.set()
            self.cue("cancelling")
        else:
            self._hush()

    def action_back(self) -> None:
        if self.state in (COUNTING, RECORDING, CLONING) or self.sounding:
            self.action_stop()
        elif self.state in (CHECKING, REVIEW):
            self.app.leave_take(self)
        elif self.state == IDLE:
            self.dismiss(None)

    # recording

    def tick(self) -> None:
        if self.sounding and self.sounding.player:
            self.take.play_at(self.sounding.begin + self.sounding.player.position)
        if self.state in (COUNTING, RECORDING) and self.taking.recorder:
            recorder = self.taking.recorder
            self.meter.show(recorder.level.peak, recorder.level.rms, recorder.clipped)
            if recorder.silent:
                self.verdict("! " + self.app.studio.silence_hint())
        if self.state == COUNTING:
            self._tick_counting()
        elif self.state == RECORDING:
            self._tick_recording()

    def _tick_counting(self) -> None:
        left = self._until - time.monotonic()
        if self.taking.error:
            self._record_failed(self.taking.error)
        elif left > 0:
            self.cue(f"get ready: {int(left) + 1}   (esc stops)")
        elif not self.taking.hears:
            self.cue("opening the microphone   (esc stops)")
        else:
            self.taking.begin(self.card.words, self.query_one("#name", Input).value)
            self.app.running_take = self.taking.collect
            self.take.clear(1000)  # drawn from the level, one point a millisecond
            self._enter(RECORDING)

    def _tick_recording(self) -> None:
        seconds = self.taking.seconds
        grown = int(seconds * 1000) - self.take.envelope.samples
        if grown > 0:
            self.take.extend(np.full(grown, 10 ** (min(0.0, self.taking.recorder.level.peak) / 20), np.float32))
        left = max(0.0, LONGEST - seconds)
        enough = (
            "enough to stop: space" if seconds >= SHORTEST else f"{figures.seconds(SHORTEST - seconds)} more at least"
        )
        self.cue(f"● recording {figures.clock(seconds)}   {figures.clock(left)} left   {enough}")
        if left == 0 or self.taking.error:
            self._finish_recording()

    def _finish_recording(self) -> None:
        taking, self.taking = self.taking, None
        self.app.running_take = None
        lost = taking.error
        self._enter(KEEPING)
        self.cue("keeping the take")
        remark = f"{self.app.explain(lost)}; what came before is kept. " if lost else ""

        def done(samples: np.ndarray, rate: int, trouble: OSError | None) -> None:
            unsafe = f"not on disk yet ({self.app.explain(trouble)}): save it before you leave. " if trouble else ""
            self._took(samples, rate, remark + unsafe)

        taking.finish(done, self._record_failed)
