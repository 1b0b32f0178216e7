"""The settings: every option of the command that makes sense here, checked as it is left, kept at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Label, Select

from s2mlx.errors import UsageError
from s2mlx.options import KNOBS

from ..state.settings import parse
from ..themes import names, theme_label
from ..widgets.device_select import DeviceSelect
from ..widgets.key_line import KeyLine
from ..widgets.marked_checkbox import MarkedCheckbox
from .base import AppScreen


@dataclass(frozen=True)
class SettingField:
    """A setting that is typed: its name, label, what it means, and what holds while the field is empty."""

    name: str
    label: str
    meaning: str
    empty: str = ""


MODEL = (
    SettingField("model", "Model", "", "GGUF file, folder, known name or owner/repo[:file]; empty: the default"),
    SettingField("tokenizer", "Tokenizer", "", "tokenizer.json, when it is not beside the model"),
    SettingField("memory_limit_gb", "Memory limit", "GB of weights", "what fits"),
)
WANTED = [knob for knob in KNOBS.values() if knob.name != "batch"]  # which is for speech that nobody waits for
SPEECH = tuple(
    SettingField(knob.name, knob.label, knob.help, knob.default_words) for knob in WANTED if knob.kind is not bool
)
SWITCHES = tuple((knob.name, f"{knob.help} when saving") for knob in WANTED if knob.kind is bool)
LATENCY = (SettingField("prebuffer", "Prebuffer", "seconds held back", "from the speed"),)
RELOAD = {"model", "tokenizer", "memory_limit_gb", "compat"}  # these change the engine itself


class SettingsScreen(AppScreen[None]):
    CSS_PATH = "settings.tcss"
    BINDINGS = [
        Binding("escape", "back", "Done"),
        Binding("down", "app.focus_next", "Next", show=False),
        Binding("up", "app.focus_previous", "Previous", show=False),
        Binding("question_mark", "app.help", "Help", key_display="?/F1"),
        Binding("f1", "app.help", "Help", key_display="F1"),  # shown where ? is typed
    ]

    def __init__(self) -> None:
        super().__init__()
        self._reload = False

    def compose(self) -> ComposeResult:
        settings = self.app.settings
        yield Label("Settings", classes="title")
        with VerticalScroll(can_focus=False):
            yield from self._group("Engine", MODEL)
            with Horizontal(classes="setting"):
                yield Label("Numerics")
                yield Select(
                    [("s2.cpp's", "s2cpp")],
                    prompt="official",
                    value=settings.compat or Select.NULL,
                    id="set-compat",
                    compact=True,
                )
            yield Label("", id="facts", classes="meaning", markup=False)
            yield from self._group("Speech", SPEECH)
            for name, meaning in SWITCHES:
                yield MarkedCheckbox(meaning, getattr(settings, name), id=f"set-{name}")
            yield Label("Devices", classes="group")
            for name, label in (("output", "Output"), ("input", "Microphone")):
                with Horizontal(classes="setting"):
                    yield Label(label)
                    yield DeviceSelect(name, id=f"set-{name}")
            yield from self._group("Latency", LATENCY)
            yield Label("Look", classes="group")
            with Horizontal(classes="setting"):
                yield Label("Theme")
                yield Select(
                    [(theme_label(name), name) for name in names()],
                    value=settings.theme,
                    allow_blank=False,
                    id="set-theme",
                    compact=True,
                )
        yield Label("", id="trouble", markup=False)
        yield KeyLine()

    def _group(self, title: str, fields: tuple[SettingField, ...]) -> ComposeResult:
        yield Label(title, classes="group")
        for field in fields:
            value = getattr(self.app.settings, field.name)
            with Horizontal(classes="setting"):
                yield Label(field.label)
                yield Input(
                    "" if value is None else str(value),
                    field.empty,
                    id=f"set-{field.name}",
                    compact=True,
                    select_on_focus=False,
                )
                if field.meaning:
                    yield Label(field.meaning, classes="meaning", markup=False)

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
