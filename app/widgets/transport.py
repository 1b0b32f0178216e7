"""The row of buttons under the text. Says which one was pressed; shows which make sense now."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Button


class Transport(Horizontal):
    """`buttons`: (what, label, key as shown)."""

    class Asked(Message):
        """A button was pressed: `what` names it."""

        def __init__(self, what: str):
            super().__init__()
            self.what = what

    def __init__(self, buttons: tuple[tuple[str, str, str], ...], **kwargs):
        super().__init__(**kwargs)
        self._buttons = buttons

    def compose(self) -> ComposeResult:
        for what, label, key in self._buttons:
            button = Button(f"{label} [dim]{key}[/dim]", id=f"do-{what}", compact=True)
            button.can_focus = False  # every button has a key; tab stays with the panes
            yield button

    def allow(self, *possible: str) -> None:
        """Enable these and only these."""
        for button in self.query(Button):
            button.disabled = button.id.removeprefix("do-") not in possible

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.Asked(event.button.id.removeprefix("do-")))
