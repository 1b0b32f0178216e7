"""A list beside the text: takes that are no voice yet, or what was spoken last. Says what is asked of a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class SideList(OptionList):
    """`lines`: of (id, words); `empty` stands there without any."""

    BINDINGS = [Binding("space", "ask('listen')", "Listen")]

    class LineAsked(Message):
        """`what` is to be done with the line `id`."""

        def __init__(self, side: SideList, what: str, id: str):
            super().__init__()
            self.side, self.what, self.id = side, what, id

        @property
        def control(self) -> SideList:
            return self.side

    def __init__(self, empty: str, **kwargs: Any):
        super().__init__(markup=False, compact=True, classes="pane", **kwargs)
        self._empty = empty

    def show(self, lines: Sequence[tuple[str, Content]]) -> None:
        """Replace the lines, keeping the highlight where it is."""
        at = self.highlighted or 0
        self.clear_options()
        self.add_options([Option(words, id=id) for id, words in lines] or [Option(self._empty, disabled=True)])
        self.highlighted = min(at, len(lines) - 1) if lines else None

    def action_ask(self, what: str) -> None:
        if self.highlighted is not None and (id := self.get_option_at_index(self.highlighted).id):
            self.post_message(self.LineAsked(self, what, id))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_ask("choose")


class TakeList(SideList):
    """Takes that are no voice yet."""

    PLACE = "the list of takes"  # for the help
    BINDINGS = [Binding("enter", "select", "Look at it")]


class SpokenList(SideList):
    """What was spoken last."""

    PLACE = "the list of what was spoken"  # for the help
    BINDINGS = [
        Binding("enter", "select", "Text back"),
        Binding("s", "ask('again')", "Again, same seed"),
    ]
