"""Words of which some are marked, until they are changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text
from textual.widgets import TextArea

from .wrapped_text import WrappedText


class MarkedWords(WrappedText):
    # without colour they are underlined
    COMPONENT_CLASSES = {"text--doubted"}

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.marked: tuple[tuple[int, int], ...] = ()  # characters [begin, end) of the text

    def mark(self, spans: Sequence[tuple[int, int]]) -> None:
        if tuple(spans) != self.marked:
            self.marked = tuple(spans)
            self.notify_style_update()
            self.refresh()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self.mark(())
        self.border_subtitle = ""

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        if self.marked:
            start = sum(len(before) + 1 for before in self.document.lines[:line_index])
            style = self.get_component_rich_style("text--doubted", partial=True)
            for begin, end in self.marked:
                if begin - start < len(line.plain) and end > start:
                    line.stylize(style, max(0, begin - start), min(len(line.plain), end - start))
        return line
