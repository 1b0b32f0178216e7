"""The row of buttons under the text. Says which one was pressed; shows which make sense now.

A narrow row leaves out the keys, a narrower one the signs too: no button is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Button

# of (label, key), from the widest on
FORMS: tuple[Callable[[str, str], str], ...] = (
    lambda label, key: f"{label} [dim]{key}[/dim]",
    lambda label, key: label,
    lambda label, key: label.partition(" ")[2] or label,
)
BESIDE, BETWEEN = 1, 1  # columns: on both sides of each button's words, after each button


class Transport(Horizontal):
    """`buttons`: (what, label, key as shown)."""

    class ButtonPressed(Message):
        """A button was pressed: `what` names it."""

        def __init__(self, what: str):
            super().__init__()
            self.what = what

    def __init__(self, buttons: tuple[tuple[str, str, str], ...], **kwargs: Any):
        super().__init__(**kwargs)
        self._buttons = buttons

    def compose(self) -> ComposeResult:
        for what, label, key in self._buttons:
            button = Button(FORMS[0](label, key), id=f"do-{what}", compact=True)
            button.can_focus = False  # every button has a key; tab stays with the panes
            yield button

    def on_resize(self) -> None:
        room = self.content_size.width
        for form in FORMS:
            shown = [Content.from_markup(form(label, key)) for _, label, key in self._buttons]
            least = sum(cell_len(words.plain) + BETWEEN for words in shown) - BETWEEN
            if least <= room:
                break
        beside = BESIDE if least + 2 * BESIDE * len(shown) <= room else 0
        for button, words in zip(self.query(Button), shown, strict=True):
            button.label = words
            button.styles.line_pad, button.styles.width = beside, cell_len(words.plain) + 2 * beside

    def allow(self, *possible: str) -> None:
        """Enable these and only these."""
        for button in self.query(Button):
            button.disabled = _what(button) not in possible

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.ButtonPressed(_what(event.button)))


def _what(button: Button) -> str:
    return (button.id or "").removeprefix("do-")
