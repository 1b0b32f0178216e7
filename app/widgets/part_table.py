"""The parts of a long text, a row each, under the heads of its chapters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class PartTable(OptionList):
    """The highlighted one is in the hand."""

    PLACE = "the parts"  # for the help
    BINDINGS = [Binding("up", "cursor_up", "Another part", key_display="↑/↓", show=False)]

    class PartChosen(Message):
        """Part `number` is in the hand now."""

        def __init__(self, number: int):
            super().__init__()
            self.number = number

    class PartEntered(Message):
        """The one in the hand is to be heard."""

    def __init__(self, chapters: Sequence[tuple[int, str]] = (), at: int = 0, **kwargs: Any):
        super().__init__(markup=False, compact=True, **kwargs)
        self._heads = dict(chapters)
        self._rows = 0
        self.at = at

    def show(self, rows: Sequence[Content]) -> None:
        """All rows, for the first time."""
        options = []
        for number, row in enumerate(rows):
            if head := self._heads.get(number):
                options.append(Option(Content.styled(f"§ {head}", "bold $primary"), disabled=True))
            options.append(Option(row, id=str(number)))
        self.add_options(options)
        self._rows = len(rows)
        self.take(min(self.at, len(rows) - 1))

    def change(self, number: int, row: Content) -> None:
        """Another row for part `number`."""
        self.replace_option_prompt(str(number), row)

    def take(self, number: int) -> None:
        """Part `number` into the hand."""
        if 0 <= number < self._rows:
            self.at = number
            self.highlighted = self.get_option_index(str(number))
            self.scroll_to_highlight()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_id is not None and int(event.option_id) != self.at:
            self.at = int(event.option_id)
            self.post_message(self.PartChosen(self.at))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.PartEntered())


def part_row(number: int, sign: str, style: str, seconds: float | None, takes: str, words: str) -> Content:
    """`  17 ✓   8.4 s  2/3  The words`: `takes` tells which of several is in the whole."""
    length = "" if seconds is None else f"{seconds:.1f} s"
    return Content.assemble(
        (f"{number + 1:>4} ", "$faint"), (f"{sign} ", style), f"{length:>7}  ", (f"{takes:<5}", "$accent"), words
    )
