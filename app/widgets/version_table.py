"""The versions of one text side by side: the best, each one's length, level and seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class VersionTable(OptionList):
    """`★` is the best. The highlighted one is in the hand."""

    PLACE = "the versions"  # for the help
    BINDINGS = [Binding("up", "cursor_up", "Another version", key_display="↑/↓", show=False)]

    class VersionChosen(Message):
        """Version `number` is wanted in the hand."""

        def __init__(self, number: int):
            super().__init__()
            self.number = number

    class VersionEntered(Message):
        """The one in the hand is to be heard."""

    def __init__(self, **kwargs: Any):
        super().__init__(markup=False, compact=True, **kwargs)
        self._rows: list[str] = []
        self._at = -1

    def show(self, lines: Sequence[str], at: int) -> None:
        """Replace the rows; row `at` is in the hand."""
        self._rows, self._at = list(lines), at
        self._draw()

    def _draw(self) -> None:
        width = max(20, self.scrollable_content_region.width)
        rows = [Content(line[:width]) for line in self._rows]
        if self.option_count == len(rows):
            for number, row in enumerate(rows):
                self.replace_option_prompt_at_index(number, row)
        else:
            self.clear_options()
            self.add_options([Option(row) for row in rows])
        self.highlighted = self._at if 0 <= self._at < len(rows) else None

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_index != self._at:
            self.post_message(self.VersionChosen(event.option_index))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.VersionEntered())


def version_line(number: int, best: bool, seconds: float | None, level: float, seed: int | None, note: str = "") -> str:
    """`★ 2    8.4 s   -18 dB   seed 1234`: the level is that of its speech in dBFS; seconds None: not made yet."""
    made = "      …" + " " * 11 if seconds is None else f"{seconds:5.1f} s   {f'{level:.0f}':>4} dB "
    told = "" if seed is None else f"seed {seed}"
    return f"{'★' if best else ' '} {number + 1:<2}  {made}  {told}{note}".rstrip()
