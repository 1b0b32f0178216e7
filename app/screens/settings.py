"""The settings: every option of the command that makes sense here, checked as it is left, kept at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Checkbox, Input, Label, Select

from s2mlx.errors import UsageError

from ..state.settings import THEMES, parse
from ..widgets.check import Check
from ..widgets.device_select import DeviceSelect
from ..widgets.key_line import KeyLine

if TYPE_CHECKING:
    from ..app import S2App


@dataclass(frozen=True)
class Line:
    """A typed setting: its field, label, and what it means."""

    name: str
    label: str
    meaning: str


MODEL = (
    Line("model", "Model", "GGUF file, folder, known name or owner/repo[:file]; empty: the default"),
    Line("tokenizer", "Tokenizer", "tokenizer.json, when it is not beside the model"),
    Line("memory_limit_gb", "Memory limit", "GB of weights; empty: what fits"),
)
SPEECH = (
    Line("temperature", "Temperature", "0 to 10, lower is steadier; empty: model's"),
    Line("top_p", "Top p", "above 0, at most 1; empty: model's"),
    Line("top_k", "Top k", "0 is off; empty: model's"),
    Line("seed", "Seed", "empty: a new one each time"),
    Line("max_frames", "Max frames", "per pass of 46 ms; empty: 1024, or what fits"),
    Line("min_frames", "Min frames", "before the model may stop"),
    Line("pause_ms", "Pause", "ms of silence between passes"),
)
LATENCY = (Line("prebuffer", "Prebuffer", "seconds held back; empty: from the speed"),)
SWITCHES = (("trim", "cut trailing silence when saving"), ("normalize", "scale the peak to 0.95 when saving"))
THEME_NAMES = {"s2-dark": "dark", "s2-light": "light", "s2-contrast": "high contrast"}
RELOAD = {"model", "tokenizer", "memory_limit_gb", "compat"}  # these change the engine itself


class SettingsScreen(Screen[None]):
    app: S2App

    BINDINGS = [
        Binding("escape", "back", "Done"),
        Binding("down", "app.focus_next", "Next", show=False),
        Binding("up", "app.focus_previous", "Previous", show=False),
        Binding("question_mark", "app.help", "Help", key_display="?/F1"),
        Binding("f1", "app.help", "Help", key_display="F1"),  # shown where ? is typed
    ]

    def __init__(self):
        super().__init__()
        self._reload = False

    def compose(self) -> ComposeResult:
        settings = self.app.settings
        yield Label("Settings", classes="title")
        with VerticalScroll(can_focus=False):
            yield from self._lines("Engine", MODEL)
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
            yield from self._lines("Speech", SPEECH)
            for name, meaning in SWITCHES:
                yield Check(meaning, getattr(settings, name), id=f"set-{name}")
            yield Label("Devices", classes="group")
            for name, label in (("output", "Output"), ("input", "Microphone")):
                with Horizontal(classes="setting"):
                    yield Label(label)
                    yield DeviceSelect(name, id=f"set-{name}")
            yield from self._lines("Latency", LATENCY)
            yield Label("Look", classes="group")
            with Horizontal(classes="setting"):
                yield Label("Theme")
                yield Select(
                    [(THEME_NAMES[name], name) for name in THEMES],
                    value=settings.theme,
                    allow_blank=False,
                    id="set-theme",
                    compact=True,
                )
        yield Label("", id="trouble", markup=False)
        yield KeyLine()

    def _lines(self, group: str, lines: tuple[Line, ...]) -> ComposeResult:
        yield Label(group, classes="group")
        for line in lines:
            value = getattr(self.app.settings, line.name)
            with Horizontal(classes="setting"):
                yield Label(line.label)
                wide = line.name in ("model", "tokenizer")
                yield Input(
                    "" if value is None else str(value),
                    line.meaning if wide else "",
                    id=f"set-{line.name}",
                    compact=True,
                    select_on_focus=False,
                )
                if not wide:
                    yield Label(line.meaning, classes="meaning", markup=False)

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

    def _show_devices(self, devices) -> None:
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
        name = field.id.removeprefix("set-")
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
        self._change(event.select.id.removeprefix("set-"), None if event.value is Select.NULL else event.value)

    @on(Checkbox.Changed)
    def _switched(self, event: Checkbox.Changed) -> None:
        self._change(event.checkbox.id.removeprefix("set-"), event.value)

    def _change(self, name: str, value) -> None:
        if value != getattr(self.app.settings, name):
            self.app.change(**{name: value})
            self._reload |= name in RELOAD
            if name == "model":
                self._show_facts()

    def action_back(self) -> None:
        if isinstance(self.focused, Input) and not self._keep(self.focused):
            self.trouble(self.query_one("#trouble", Label).content + "  Escape once more leaves it as it was.")
            self.query_one("#set-theme").focus()
            return
        if self._reload:
            self.app.room.load(self.app.settings)
        self.dismiss(None)
