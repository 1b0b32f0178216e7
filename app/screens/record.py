"""The recording screen: choose a microphone, read a sentence, look at the take, trim it, name it, make it a voice.

In live mode it starts at once, and a good take becomes a voice and speaks without another key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal
from textual.timer import Timer
from textual.widgets import Input, Label, Select, TextArea

from ..recording.take_facts import SHORTEST, TakeFacts
from ..recording.takes import Takes
from ..state.take_file import UnsavedTake
from ..widgets.device_select import DeviceSelect
from ..widgets.key_line import KeyLine
from ..widgets.level_meter import LevelMeter
from ..widgets.reading_card import ReadingCard
from ..widgets.take_table import TakeTable
from ..widgets.transport import Transport
from ..widgets.trimmer import Trimmer
from .base import HELP_KEYS, AppScreen
from .record_buttons import ALLOWED, BUTTONS, lit, why_not
from .review import LONGEST, NewVoice, Stage, TakeReview
from .take_desk import TakeDesk
from .take_listener import TakeListener
from .take_recorder import TakeRecorder

TICK = 1 / 20


class RecordScreen(AppScreen[NewVoice | None]):
    """`recorder` makes the takes, `desk` has them side by side, and `review` has one of them in the hand."""

    CSS_PATH = "record.tcss"

    BINDINGS = [
        Binding("ctrl+r", "record", "Record", show=False),
        Binding("ctrl+l", "record", "Record", show=False),
        Binding("space,enter", "start_or_stop", "Record, stop, listen", show=False),
        Binding("ctrl+b", "listen", "Listen", show=False),
        Binding("ctrl+s", "save", "Save voice", show=False),
        Binding("ctrl+n", "next_sentence", "Next sentence"),
        Binding("ctrl+z", "undo_words", "Words back", show=False),
        Binding("pageup", "takes('before')", "Take before", show=False),
        Binding("pagedown", "takes('next')", "Next take", show=False),
        Binding("x", "takes('compare')", "A/B"),
        Binding("b", "takes('mark_best')", "Best"),
        Binding("d,delete", "takes('throw_away')", "Delete"),
        Binding("u", "takes('bring_back')", "Undo"),
        Binding("escape", "back", "Stop/back"),
        *HELP_KEYS,
    ]

    def __init__(self, live: bool = False, recovered: Sequence[UnsavedTake] = (), countdown: float = 3.0):
        super().__init__()
        self.live = live
        self.stage = Stage.IDLE
        self.meter = LevelMeter(id="meter")
        self.trimmer = Trimmer("press space, wait for the count, and read the sentence aloud", id="take")
        self.name_field = Input(placeholder="a name for the voice", id="name", compact=True)
        self.transport = Transport(BUTTONS, id="transport")
        self.review = TakeReview(self, self, self.trimmer)
        self.recorder = TakeRecorder(
            self, self, self.meter, self.trimmer, countdown, lambda: self.card.words, lambda: self.name_field.value
        )
        self.listener = TakeListener(self)
        self.take_table = TakeTable(id="take-table")
        self.desk = TakeDesk(
            self,
            self,
            self.take_table,
            self.review,
            recovered,
            lambda: self.card.words,
            lambda: self.name_field.value.strip(),
        )
        self._voice: NewVoice | None = None  # what to leave with
        self._ticking: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Label(
            "Live clone: record, and hear the text in that voice" if self.live else "Record a voice", classes="title"
        )
        with Horizontal(id="choices"):
            yield Label("Microphone ")
            yield DeviceSelect("input", id="input")
        words = self.takes.in_hand.transcript if self.takes else None
        self.card = ReadingCard(self.app.settings.language, words, self.longest, id="card")
        yield self.card
        yield Label("", id="cue", markup=False)
        yield self.meter
        with Container(id="take-panes"):
            yield self.trimmer
            yield self.take_table
        yield Label("", id="verdict", markup=False)
        with Horizontal(id="naming"):
            yield Label("Name ")
            yield self.name_field
        yield self.transport
        yield KeyLine()

    @property
    def takes(self) -> Takes:
        return self.desk.takes

    @property
    def longest(self) -> float:
        """Seconds of a voice that the loaded model follows."""
        engine = self.app.loader.engine
        return engine.config.reference_seconds if engine else math.inf

    def on_mount(self) -> None:
        self._ticking = self.set_interval(TICK, self.tick, pause=True)
        self.name_field.value = (
            self.takes.in_hand.name if self.takes else self.app.voices.free_name("live" if self.live else "me")
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
        self.desk.mounted()
        if self.takes:
            self._look_at_take()
        elif self.live:
            self.action_record()
        else:
            self.recorder.watch()
            self.sound_changed()

    def on_unmount(self) -> None:
        self.recorder.end_watch()
        self.review.hush()
        self.desk.keep_now()
        if self.app.recordings.running:
            self.app.recordings.keep_running()
        elif self.recorder.recording:
            self.recorder.recording.drop()

    # choices

    @on(Select.Changed, "#input")
    def _input_chosen(self) -> None:
        self.app.change(input=self.query_one(DeviceSelect).chosen)
        if self.recorder.watching:
            self.recorder.watch()

    @on(ReadingCard.LanguageChosen)
    def _language_chosen(self, event: ReadingCard.LanguageChosen) -> None:
        self.app.change(language=event.language)

    def action_next_sentence(self) -> None:
        self.card.next()

    def action_undo_words(self) -> None:
        if not self.card.undo():
            self.say("there is nothing to undo in the words")

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
            self.cue(f"{self.takes.place}space listens, ←/→ trim, ^s makes it a voice, ^r records another")
        self.refresh_bindings()

    def sound_changed(self) -> None:
        """The clock runs while there is something to draw."""
        if self._ticking:
            moving = self.stage in (Stage.COUNTING, Stage.RECORDING) or self.review.replay or self.recorder.watching
            self._ticking.resume() if moving else self._ticking.pause()
        lights = lit(self.stage, self.review.replay is not None)
        self.query_one("#cue").set_class("record" in lights, "-recording")
        self.transport.light(**lights)

    def cue(self, text: str) -> None:
        self.query_one("#cue", Label).update(text)

    def verdict(self, text: str) -> None:
        label = self.query_one("#verdict", Label)
        label.update(text)
        label.set_class("✓" in text, "-done")
        label.set_class(text.startswith("!"), "-failed")

    say = verdict

    # what the user asks for

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        if action in ("listen", "save"):
            return self.stage is Stage.REVIEW
        if action == "next_sentence":  # in the review the words are those of the take
            return self.stage in (Stage.IDLE, Stage.COUNTING)
        if action in ("record", "takes"):
            mine = action == "record" or self.desk.allows(parameters[0])
            return mine and self.stage in (Stage.IDLE, Stage.REVIEW)
        return True

    def why_not(self, action: str, parameters: tuple) -> str:
        return why_not(action, str(*parameters), self.stage, len(self.takes))

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
        if self.stage is Stage.IDLE:
            self.action_record()
        elif self.stage is Stage.REVIEW and self.review.replay is None:
            self.action_listen()
        elif self.stage is not Stage.CHECKING:
            self.action_stop()

    def action_record(self) -> None:
        self.review.hush()
        self.desk.note()
        self.recorder.start()

    def action_stop(self) -> None:
        if self.stage is Stage.RECORDING:
            self.recorder.finish()
        elif self.stage is Stage.COUNTING:
            self.recorder.drop()
        elif self.stage is Stage.CLONING:
            self.review.cancel()
        else:
            self.review.hush()
            self.sound_changed()

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

    def tick(self) -> None:
        self.review.draw_position()
        self.recorder.tick()

    # the takes

    def took(self, take: UnsavedTake, remark: str) -> None:
        self.card.fixed = True
        self.meter.reset()
        self.desk.took(take, remark)
        if not self.live:
            self.listener.listen(take, self.card)

    def took_nothing(self) -> None:
        """The take that came before, if any, is shown again."""
        if self.takes:
            self.show_words(self.takes.in_hand)
            self._look_at_take()
        else:
            self.enter(Stage.IDLE)

    def no_takes(self) -> None:
        self.review.drop()
        self.card.fixed = False
        self.enter(Stage.IDLE)

    def _look_at_take(self) -> None:
        """Another take is in the hand."""
        self.card.fixed = True
        self.meter.reset()
        self.desk.look()

    def show_words(self, take: UnsavedTake) -> None:
        self.card.put(take.transcript)

    @on(TextArea.Changed, "#words")
    @on(Input.Changed, "#name")
    def _words_changed(self) -> None:
        if self.stage in (Stage.CHECKING, Stage.REVIEW):  # they are those of the take in the hand
            self.desk.note()

    @on(TakeTable.TakeChosen)
    def _take_chosen(self, event: TakeTable.TakeChosen) -> None:
        if self.stage is Stage.REVIEW:
            self.desk.go(event.number)

    def action_takes(self, what: str) -> None:
        self.desk.do(what)

    @on(Trimmer.CutAsked)
    def _cut_asked(self, event: Trimmer.CutAsked) -> None:
        if self.stage is Stage.REVIEW:
            self.review.hear_cut(event.at_end)

    @on(Trimmer.Trimmed)
    def _trimmed(self) -> None:
        self.review.trimmed()
        self.desk.note(begin=self.trimmer.begin, end=self.trimmer.end)

    def judged(self, take: UnsavedTake, facts: TakeFacts) -> UnsavedTake:
        return self.desk.judged(take, facts)

    def judged_good(self) -> None:
        if self.live:
            self.action_save()

    def voice_made(self, name: str) -> None:
        self._voice = NewVoice(name, self.live, len(self.takes) - 1)
        self.on_screen_resume()

    def on_screen_resume(self) -> None:
        """With the voice made there is no more to do here; a help or a dialog above is read to its end first."""
        if self._voice and self.is_active:
            self.dismiss(self._voice)
