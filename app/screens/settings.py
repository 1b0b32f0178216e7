"""The settings as cards: every option of the command that makes sense here, checked as it is left, kept at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Label, Select

from s2mlx.errors import UsageError
from s2mlx.options import KNOBS

from ..state.settings import parse
from ..themes import names, theme_label
from ..widgets.device_select import DeviceSelect
from ..widgets.key_line import KeyLine
from ..widgets.marked_checkbox import MarkedCheckbox
from .base import HELP_KEYS, AppScreen
from .model_values import model_value


@dataclass(frozen=True)
class SettingField:
    """A setting that is typed: its name, label, a sentence on what it does, and what holds while it is empty."""

    name: str
    label: str
    meaning: str
    empty: str = ""


MODEL = (
    SettingField(
        "model",
        "Model",
        "A GGUF file, a folder, a known name, or owner/repo[:file]. F8 on the main screen lists them.",
        "the default",
    ),
    SettingField("tokenizer", "Tokenizer", "A tokenizer.json, where none lies beside the model.", "beside the model"),
    SettingField("memory_limit_gb", "Memory limit", "The most that weights may take, in GB.", "what fits"),
)
# a sentence for each knob; one that is not here is told as the command tells it
SENTENCES = {
    "temperature": "How freely sounds are drawn: 0 takes the likeliest each time, 1 and more is lively and less sure.",
    "top_p": "Only the likeliest sounds are drawn from, as many as make up this share; 1 leaves none out.",
    "top_k": "Only so many of the likeliest sounds are drawn from; 0 leaves none out.",
    "seed": "The same seed and text give the same speech; empty gives another one each time.",
    "max_frames": "The longest that a piece of a text may become. A frame is 46 ms.",
    "min_frames": "The shortest that it may become: 20 helps where speech ends at once.",
    "pause_ms": "Silence between the pieces of a long text, in ms.",
    "rate": "How fast it is spoken, 0.5 to 2 times; the pitch stays.",
    "takes": "How often a piece is spoken at most, with the check below, until its words are right.",
}
WANTED = [knob for knob in KNOBS.values() if knob.name != "batch"]  # which is for speech that nobody waits for
SPEECH = tuple(
    SettingField(
        knob.name, knob.label, SENTENCES.get(knob.name, f"{knob.help[:1].upper()}{knob.help[1:]}."), knob.default_words
    )
    for knob in WANTED
    if knob.kind is not bool
)
SAVED = ("trim", "normalize")  # these concern what is saved, and no sound that is heard as it is made
SWITCHES = tuple(
    (knob.name, f"{knob.help} when saving" if knob.name in SAVED else knob.help) for knob in WANTED if knob.kind is bool
)
LATENCY = (SettingField("prebuffer", "Prebuffer", "Seconds of sound held back before it begins.", "by the speed"),)
RELOAD = {"model", "tokenizer", "memory_limit_gb", "compat"}  # these change the engine itself


class SettingsScreen(AppScreen[None]):
    CSS_PATH = "settings.tcss"
    BINDINGS = [
        Binding("escape", "back", "Done"),
        Binding("down", "app.focus_next", "Next", show=False),
        Binding("up", "app.focus_previous", "Previous", show=False),
        *HELP_KEYS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self._reload = False

    def compose(self) -> ComposeResult:
        yield Label("Settings", classes="title")
        with VerticalScroll(id="cards", can_focus=False):
            with Vertical(classes="column"):
                yield from self._card("Model", self._engine())
                yield from self._card("Sound", self._sound())
                yield from self._card("Look", self._look())
            with Vertical(classes="column"):
                yield from self._card("Speech", self._speech())
        yield Label("", id="trouble", markup=False)
        yield KeyLine()

    def _card(self, title: str, rows: ComposeResult) -> ComposeResult:
        card = Container(classes="card")
        card.border_title = title
        with card:
            yield from rows

    def _engine(self) -> ComposeResult:
        yield from self._fields(MODEL)
        yield from _row(
            "Numerics",
            Select(
                [("s2.cpp's", "s2cpp")],
                prompt="official",
                value=self.app.settings.compat or Select.NULL,
                id="set-compat",
                compact=True,
            ),
            "Whose rounding the arithmetic follows.",
        )
        yield Label("", id="facts", classes="meaning", markup=False)

    def _sound(self) -> ComposeResult:
        yield from _row("Output", DeviceSelect("output", id="set-output"))
        yield from _row("Microphone", DeviceSelect("input", id="set-input"))
        yield from self._fields(LATENCY)

    def _look(self) -> ComposeResult:
        yield from _row(
            "Theme",
            Select(
                [(theme_label(name), name) for name in names()],
                value=self.app.settings.theme,
                allow_blank=False,
                id="set-theme",
                compact=True,
            ),
        )

    def _speech(self) -> ComposeResult:
        yield from self._fields(SPEECH)
        for name, meaning in SWITCHES:
            yield MarkedCheckbox(meaning, getattr(self.app.settings, name), id=f"set-{name}")

    def _fields(self, fields: tuple[SettingField, ...]) -> ComposeResult:
        for field in fields:
            value = getattr(self.app.settings, field.name)
            box = Input(
                "" if value is None else str(value),
                self._holds(field),
                id=f"set-{field.name}",
                compact=True,
                select_on_focus=False,
            )
            yield from _row(field.label, box, field.meaning)

    def _holds(self, field: SettingField) -> str:
        """What holds while a field is empty: the model's own value, where it is the model's to say."""
        own = model_value(self.app, field.name)
        return f"{own} (the model's own)" if own else field.empty

    def on_mount(self) -> None:
        self.query_one("#set-model").focus()
        self.app.jobs.start(
            "devices",
            lambda job: self.app.studio.devices(),
            owner=self,
            done=self._show_devices,
            failed=lambda error: self.trouble(self.app.explain(error)),
        )
        self._show_facts()

    def trouble(self, text: str) -> None:
        self.query_one("#trouble", Label).update(text)

    def _show_devices(self, devices: Sequence[Any]) -> None:
        for way in ("output", "input"):
            self.query_one(f"#set-{way}", DeviceSelect).show(devices, getattr(self.app.settings, way))

    def _show_facts(self) -> None:
        model = self.app.settings.model
        show = self.query_one("#facts", Label).update
        self.app.jobs.start(
            "facts",
            lambda job: self.app.studio.model_facts(model),
            owner=self,
            done=show,
            failed=lambda error: show(self.app.explain(error)),
        )

    @on(Input.Blurred)
    @on(Input.Submitted)
    def _typed(self, event: Input.Blurred | Input.Submitted) -> None:
        self._keep(event.input)

    def _keep(self, field: Input) -> bool:
        """Take the value of a field; False and a word about it when it is not possible."""
        name = _name(field)
        try:
            self._change(name, parse(name, field.value))
        except UsageError as error:
            self.trouble(f"! {error}")
            field.add_class("wrong")
            return False
        field.remove_class("wrong")
        self.trouble("")
        return True

    @on(Select.Changed)
    def _selected(self, event: Select.Changed) -> None:
        self._change(_name(event.select), None if event.value is Select.NULL else event.value)

    @on(Checkbox.Changed)
    def _switched(self, event: Checkbox.Changed) -> None:
        self._change(_name(event.checkbox), event.value)

    def _change(self, name: str, value: Any) -> None:
        if value != getattr(self.app.settings, name):
            self.app.change(**{name: value})
            self._reload |= name in RELOAD
            if name == "model":
                self._show_facts()

    def action_back(self) -> None:
        if isinstance(self.focused, Input) and not self._keep(self.focused):
            self.trouble(f"{self.query_one('#trouble', Label).content}  Escape once more leaves it as it was.")
            self.query_one("#set-theme").focus()
            return
        if self._reload:
            self.app.loader.load(self.app.settings)
        self.dismiss(None)


def _name(field: Widget) -> str:
    """The setting that a field is of."""
    return (field.id or "").removeprefix("set-")


def _row(label: str, field: Widget, meaning: str = "") -> ComposeResult:
    with Horizontal(classes="setting"):
        yield Label(label)
        yield field
        if meaning:
            yield Label(meaning, classes="meaning", markup=False)
