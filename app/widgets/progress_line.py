"""How far something long is, in one line: a bar, and behind it the numbers."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

WIDEST, LEAST = 40, 8  # columns of the bar


class ProgressLine(Static):
    def __init__(self, **kwargs: Any):
        super().__init__(markup=False, **kwargs)
        self.share, self.words, self._style = 0.0, "", "$done"

    def show(self, share: float, words: str, style: str = "$done") -> None:
        """`share` of it is there, 0..1; `words` stand behind the bar, parted by ` · `: the last are left out first."""
        if (share, words, style) != (self.share, self.words, self._style):
            self.share, self.words, self._style = share, words, style
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, words = self.content_size.width, self.words
        while cell_len(words) + LEAST + 2 > width and " · " in words:
            words = words.rpartition(" · ")[0]
        bar = max(LEAST, min(WIDEST, width - cell_len(words) - 2))
        full = min(bar, int(self.share * bar + 1e-6) or (self.share > 0))
        self.update(
            Content.assemble(("━" * full, self._style), ("─" * (bar - full), "$quiet"), "  ", words), layout=False
        )
