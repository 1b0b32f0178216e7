"""A small dialog of named fields, checked before it closes. And one that asks a question with a few answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label

from ..widgets.key_line import KeyLine
from ..widgets.marked_checkbox import MarkedCheckbox

MANY = 3  # fields: more of them stand closer, so that a small terminal has all


@dataclass(frozen=True)
class Field:
    """One line to fill in; `value` a bool makes it a checkbox."""

    name: str
    label: str
    value: str | bool = ""
    hint: str = ""


class Form(ModalScreen[dict | None]):
    """Dismissed with the values by field name, or None. `check(values)` returns what is wrong, or an empty string."""

    BINDINGS = [Binding("escape", "leave", "Cancel"), Binding("ctrl+s", "accept", "Accept")]

    def __init__(
        self,
        title: str,
        fields: Sequence[Field],
        accept: str = "OK",
        check: Callable[[dict], str] = lambda values: "",
        trouble: str = "",
        about: str = "",
    ):
        """`trouble`: what was wrong with these values the last time; `about`: a line above the fields."""
        super().__init__()
        self._title, self._fields, self._accept, self._check, self._trouble = title, fields, accept, check, trouble
        self._about = about

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -many" if len(self._fields) > MANY else "dialog"):
            yield Label(self._title, classes="title", markup=False)
            if self._about:
                yield Label(self._about, classes="meaning", markup=False)
            for field in self._fields:
                if isinstance(field.value, bool):
                    yield MarkedCheckbox(field.label, field.value, id=f"field-{field.name}")
                else:
                    yield Label(field.label, markup=False)
                    yield Input(field.value, placeholder=field.hint, id=f"field-{field.name}", compact=True)
            yield Label(self._trouble, id="trouble", markup=False)
            with Horizontal(classes="buttons"):
                yield Button(self._accept, id="accept", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)
        yield KeyLine()

    def on_mount(self) -> None:
        """In a small terminal the fields scroll: from the first one on."""
        self.call_after_refresh(lambda: self.query_one(".dialog").scroll_home(animate=False))

    def values(self) -> dict:
        def value(field: Field) -> str | bool:
            where = f"#field-{field.name}"
            if isinstance(field.value, bool):
                return self.query_one(where, MarkedCheckbox).value
            return self.query_one(where, Input).value

        return {field.name: value(field) for field in self._fields}

    def action_accept(self) -> None:
        values = self.values()
        trouble = self._check(values)
        self.query_one("#trouble", Label).update(trouble)
        if not trouble:
            self.dismiss(values)

    def action_leave(self) -> None:
        self.dismiss(None)

    def on_input_submitted(self) -> None:
        self.action_accept()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "accept":
            self.action_accept()
        else:
            self.action_leave()


class Question(ModalScreen[str | None]):
    """Asks with a few answers, each (what, label); dismissed with the chosen `what`, or None on escape."""

    BINDINGS = [
        Binding("escape", "leave", "Not now"),
        Binding("left,up", "app.focus_previous", "Another", key_display="←/→"),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(self, text: str, answers: Sequence[tuple[str, str]]):
        super().__init__()
        self._text, self._answers = text, answers

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._text, markup=False)
            with Horizontal(classes="buttons"):
                for number, (what, label) in enumerate(self._answers):
                    yield Button(label, id=f"answer-{what}", variant="default" if number else "primary", compact=True)
        yield KeyLine()

    def action_leave(self) -> None:
        self.dismiss(None)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss((event.button.id or "").removeprefix("answer-"))
