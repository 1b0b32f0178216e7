"""A small dialog that offers lines to choose one from."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList

from ..widgets.key_line import KeyLine


class Choice(ModalScreen[int | None]):
    """Dismissed with the index of the chosen line, or None."""

    BINDINGS = [Binding("escape", "leave", "Cancel"), Binding("enter", "choose", "Choose", priority=True)]

    def __init__(self, title: str, lines: Sequence[str]):
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._title, classes="title", markup=False)
            yield OptionList(*self._lines, id="lines", markup=False, compact=True)
        yield KeyLine()

    def action_choose(self) -> None:
        self.query_one(OptionList).action_select()

    def action_leave(self) -> None:
        self.dismiss(None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_index)
