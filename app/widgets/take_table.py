"""The takes of a sitting side by side: the best, each one's length, level and what is to be said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ..engine.levels import SILENCE
from ..recording.take_facts import SHORTEST, kept_seconds
from ..recording.takes import JudgedTake


class TakeTable(OptionList):
    """`★` is the best. The highlighted one is in the hand."""

    PLACE = "the takes"  # for the help
    BINDINGS = [Binding("up", "cursor_up", "Another take", key_display="↑/↓", show=False)]

    class TakeChosen(Message):
        """Take `number` is wanted in the hand."""

        def __init__(self, number: int):
            super().__init__()
            self.number = number

    def __init__(self, **kwargs: Any):
        super().__init__(markup=False, compact=True, **kwargs)
        self._takes: list[JudgedTake] = []
        self._at = -1
        self.border_title = "Takes"

    def show(self, takes: Sequence[JudgedTake], at: int) -> None:
        """Replace the rows; row `at` is in the hand."""
        self._takes, self._at = list(takes), at
        self._draw()

    def _draw(self) -> None:
        lines = [self._line(number, judged) for number, judged in enumerate(self._takes)]
        if self.option_count == len(lines):
            for number, line in enumerate(lines):
                self.replace_option_prompt_at_index(number, line)
        else:
            self.clear_options()
            self.add_options([Option(line) for line in lines])
        self.highlighted = self._at if 0 <= self._at < len(lines) else None

    def _line(self, number: int, judged: JudgedTake) -> Content:
        width = max(20, self.scrollable_content_region.width)
        return Content(line(number, judged)[:width])

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_index != self._at:
            self.post_message(self.TakeChosen(event.option_index))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()


def line(number: int, judged: JudgedTake) -> str:
    """`★ 2   8.4 s  -18 dB  ✓ good`: the length is that of what is kept."""
    take, facts = judged.take, judged.facts
    kept = kept_seconds(take)
    level, said = "", "…"
    if facts:
        level = f"{facts.levels.speech:.0f} dB" if facts.levels.speech > SILENCE else "silent"
        short = ["short"] if kept < SHORTEST else []
        problems = list(facts.verdict.problems) or short
        said = "! " + "; ".join(problems) if problems else "✓ good"
    return f"{'★' if take.best else ' '} {number + 1:<2} {kept:5.1f} s {level:>7}  {said}"
