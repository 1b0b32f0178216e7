"""The recording screen: choose a microphone, read a sentence, look at the take, trim it, name it, make it a voice.

In live mode it starts at once, and a good take becomes a voice and speaks without another key.
"""

from __future__ import annotations

import math
import time

import numpy as np
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widgets import Input, Label, Select

from .. import figures
from ..recording.live_recording import LiveRecording
from ..state.session import UnsavedTake
from ..widgets.device_select import DeviceSelect
from ..widgets.key_line import KeyLine
from ..widgets.level_meter import LevelMeter
from ..widgets.reading_card import ReadingCard
from ..widgets.transport import Transport
from ..widgets.trimmer import Trimmer
from .base import AppScreen
from .review import LONGEST, SHORTEST, NewVoice, Stage, TakeReview

TICK = 1 / 20
COUNTDOWN = 3.0  # seconds before the recording begins

BUTTONS = (
    ("record", "● Record", "^r"),
    ("stop", "■ Stop", "esc"),
    ("listen", "▶ Listen", "^b"),
    ("save", "▼ Save voice", "^s"),
    ("back", "Back", "esc"),
)

ALLOWED = {
    Stage.IDLE: ("record", "back"),
    Stage.COUNTING: ("stop",),
    Stage.RECORDING: ("stop",),
    Stage.KEEPING: (),
    Stage.CHECKING: ("back",),
    Stage.REVIEW: ("record", "listen", "save", "back"),
    Stage.CLONING: ("stop",),
}


class RecordScreen(AppScreen[NewVoice | None]):
    """`recording` is the one under way, `review` the take in the hand."""

    BINDINGS = [
        Binding("ctrl+r", "record", "Record", show=False),
        Binding("ctrl+l", "record", "Record", show=False),
        Binding("space,enter", "start_or_stop", "Record/stop", show=False),
        Binding("ctrl+b", "listen", "Listen", show=False),
        Binding("ctrl+s", "save", "Save voice", show=False),
        Binding("ctrl+n", "next_sentence", "Next sentence"),
        Binding("escape", "back", "Stop/back"),
        Binding("question_mark", "app.help", "Help", key_display="?/F1"),
        Binding("f1", "app.help", "Help", key_display="F1"),  # shown where ? is typed
    ]

    def __init__(self, live: bool = False, recovered: UnsavedTake | None = None, countdown: float = COUNTDOWN):
        super().__init__()
        self.live, self.recovered = live, recovered
        self.stage = Stage.IDLE
        self.meter = LevelMeter(id="meter")
        self.trimmer = Trimmer("press space, wait for the count, and read the sentence aloud", id="take")
        self.name_field = Input(placeholder="a name for the voice", id="name", compact=True)
        self.transport = Transport(BUTTONS, id="transport")
        self.review = TakeReview(self, self, self.trimmer)
        self.recording: LiveRecording | None = None
        self._voice: NewVoice | None = None  # what to leave with
        self._countdown, self._until = countdown, 0.0
        self._ticking: Timer | None = None

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
        yield self.meter
        yield self.trimmer
        yield Label("", id="verdict", markup=False)
        with Horizontal(id="naming"):
            yield Label("Name ")
            yield self.name_field
        yield self.transport
        yield KeyLine()

    @property
    def card(self) -> ReadingCard:
        return self.query_one(ReadingCard)

    @property
    def longest(self) -> float:
        """Seconds of a voice that the loaded model follows."""
        engine = self.app.loader.engine
        return engine.config.reference_seconds if engine else math.inf

    def on_mount(self) -> None:
        self._ticking = self.set_interval(TICK, self.tick, pause=True)
        self.name_field.value = (
            self.recovered.name if self.recovered else self.app.voices.free_name("live" if self.live else "me")
        )
        self.app.jobs.start(
            "devices",
            lambda job: self.app.studio.devices(),
            owner=self,
            done=lambda devices: self.query_one(DeviceSelect).show(devices, self.app.settings.input),
            failed=lambda error: self.verdict(f"! {self.app.explain(error)}"),
        )
        self.trimmer.focus()
        self.enter(Stage.IDLE)
        if self.recovered:
            self._took(self.recovered.samples, self.recovered.rate)
        elif self.live:
            self.action_record()

    def on_unmount(self) -> None:
        self.review.hush()
        if self.app.recordings.running:
            self.app.recordings.keep_running()
        elif self.recording:
            self.recording.drop()

    # choices

    @on(Select.Changed, "#input")
    def _input_chosen(self) -> None:
        self.app.change(input=self.query_one(DeviceSelect).chosen)

    @on(ReadingCard.LanguageChosen)
    def _language_chosen(self, event: ReadingCard.LanguageChosen) -> None:
        self.app.change(language=event.language)

    def action_next_sentence(self) -> None:
        self.card.next()

    # what is shown

    def enter(self, stage: Stage) -> None:
        self.stage = stage
        self.transport.allow(*ALLOWED[stage])
        self.sound_changed()
        if stage is Stage.IDLE:
            most = min(LONGEST, self.longest)
            span = f"{SHORTEST:.0f} to {most:.0f} seconds; ten are good." if most > 10 else f"about {most:.0f} seconds."
            limit = " This model follows no more of a voice." if most < LONGEST else ""
            self.cue(f"{span}{limit} Space starts and stops.")
        elif stage is Stage.REVIEW:
            self.cue("^b listens, arrows trim, ^s makes it a voice, ^r records again")
        self.refresh_bindings()

    def sound_changed(self) -> None:
        """The clock runs while there is something to draw."""
        if self._ticking:
            moving = self.stage in (Stage.COUNTING, Stage.RECORDING) or self.review.replay is not None
            self._ticking.resume() if moving else self._ticking.pause()

    def cue(self, text: str) -> None:
        self.query_one("#cue", Label).update(text)

    def verdict(self, text: str) -> None:
        self.query_one("#verdict", Label).update(text)

    # what the user asks for

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        if action in ("listen", "save"):
            return self.stage is Stage.REVIEW
        if action in ("record", "next_sentence"):
            return self.stage in (Stage.IDLE, Stage.REVIEW)
        return True

    @on(Transport.ButtonPressed)
    def _button_pressed(self, event: Transport.ButtonPressed) -> None:
        {
            "record": self.action_record,
            "stop": self.action_stop,
            "listen": self.action_listen,
            "save": self.action_save,
            "back": self.action_back,
        }[event.what]()

    def action_start_or_stop(self) -> None:
        if self.stage in (Stage.IDLE, Stage.REVIEW):
            self.action_record()
        elif self.stage is not Stage.CHECKING:
            self.action_stop()

    def action_record(self) -> None:
        self.review.hush()
        self.verdict("")
        self.meter.reset()
        self.trimmer.clear()
        self._until = time.monotonic() + self._countdown
        card, name, session = self.card, self.name_field, self.app.session
        self.recording = LiveRecording(
            self.app.studio,
            self.app.jobs,
            session.recording_file,
            lambda samples, rate: session.keep_take(samples, rate, card.words, name.value),
        )
        self.recording.start(self.app.settings.input, self._record_failed)
        self.enter(Stage.COUNTING)

    def action_stop(self) -> None:
        if self.stage is Stage.RECORDING:
            self._finish_recording()
        elif self.stage is Stage.COUNTING:
            self._drop()
        elif self.stage is Stage.CLONING:
            self.review.cancel()
        else:
            self.review.hush()

    def action_back(self) -> None:
        if self.stage in (Stage.COUNTING, Stage.RECORDING, Stage.CLONING) or self.review.replay:
            self.action_stop()
        elif self.stage in (Stage.CHECKING, Stage.REVIEW):
            self.app.recordings.leave(self)
        elif self.stage is Stage.IDLE:
            self.dismiss(None)

    def action_listen(self) -> None:
        self.review.listen()

    def action_save(self) -> None:
        name, words = self.name_field.value.strip(), self.card.words.strip()
        if not words:
            self.verdict("! the words that were said are needed")
            return
        trouble = self.app.voices.name_trouble(name)
        if trouble:
            self.verdict(f"! {trouble}")
            self.name_field.focus()
            return
        self.review.make_voice(name, words)

    # recording

    def tick(self) -> None:
        self.review.draw_position()
        recording = self.recording
        if recording is None or self.stage not in (Stage.COUNTING, Stage.RECORDING):
            return
        if microphone := recording.microphone:
            self.meter.show(microphone.level.peak, microphone.level.rms, microphone.clipped)
            if microphone.silent:
                self.verdict("! " + self.app.studio.silence_hint())
        if self.stage is Stage.COUNTING:
            self._tick_counting(recording)
        else:
            self._tick_recording(recording)

    def _tick_counting(self, recording: LiveRecording) -> None:
        left = self._until - time.monotonic()
        if recording.error:
            self._record_failed(recording.error)
        elif left > 0:
            self.cue(f"get ready: {int(left) + 1}   (esc stops)")
        elif not recording.hears:
            self.cue("opening the microphone   (esc stops)")
        else:
            recording.begin(self.card.words, self.name_field.value)
            self.app.recordings.begins(recording.collect)
            self.trimmer.clear(1000)  # drawn from the level, one point a millisecond
            self.enter(Stage.RECORDING)

    def _tick_recording(self, recording: LiveRecording) -> None:
        seconds = recording.seconds
        grown = int(seconds * 1000) - self.trimmer.envelope.samples
        if grown > 0 and recording.microphone:
            peak = 10 ** (min(0.0, recording.microphone.level.peak) / 20)
            self.trimmer.extend(np.full(grown, peak, np.float32))
        left = max(0.0, LONGEST - seconds)
        enough = (
            "enough to stop: space" if seconds >= SHORTEST else f"{figures.seconds(SHORTEST - seconds)} more at least"
        )
        self.cue(f"● recording {figures.clock(seconds)}   {figures.clock(left)} left   {enough}")
        if left == 0 or recording.error:
            self._finish_recording()

    def _finish_recording(self) -> None:
        recording, self.recording = self.recording, None
        if recording is None:
            return
        self.app.recordings.ends()
        lost = recording.error
        self.enter(Stage.KEEPING)
        self.cue("keeping the take")
        remark = f"{self.app.explain(lost)}; what came before is kept. " if lost else ""

        def done(samples: np.ndarray, rate: int, trouble: OSError | None) -> None:
            unsafe = f"not on disk yet ({self.app.explain(trouble)}): save it before you leave. " if trouble else ""
            self._took(samples, rate, remark + unsafe)

        recording.finish(done, self._record_failed)

    def _record_failed(self, error: BaseException) -> None:
        self._drop()
        self.verdict(f"! {self.app.explain(error)}")

    def _drop(self) -> None:
        """End a recording without a new take; the one before, if any, is shown again."""
        if self.recording:
            self.recording.drop()
        self.recording = None
        if len(self.review.samples):
            self.review.show()
            self.enter(Stage.REVIEW)
        else:
            self.enter(Stage.IDLE)

    # the take

    def _took(self, samples: np.ndarray, rate: int, remark: str = "") -> None:
        self.card.fixed = True
        self.review.judge(samples, rate, remark)

    @on(Trimmer.Trimmed)
    def _trimmed(self) -> None:
        self.review.trimmed()

    def judged_good(self) -> None:
        if self.live:
            self.action_save()

    def voice_made(self, name: str) -> None:
        self._voice = NewVoice(name, self.live)
        self.on_screen_resume()

    def on_screen_resume(self) -> None:
        """With the voice made there is no more to do here; a help or a dialog above is read to its end first."""
        if self._voice and self.is_active:
            self.dismiss(self._voice)
