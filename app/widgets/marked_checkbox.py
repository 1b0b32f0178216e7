"""A checkbox that shows its state by its mark, not by colour alone, and its words to the end."""

from __future__ import annotations

from typing import Any

from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Checkbox


class MarkedCheckbox(Checkbox):
    """An `X` when on, blank when off."""

    def __init__(self, label: str, value: bool, **kwargs: Any):
        super().__init__(label, value, compact=True, **kwargs)
        self.BUTTON_INNER = "X" if value else " "

    def watch_value(self) -> None:
        self.BUTTON_INNER = "X" if self.value else " "
        super().watch_value()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as its words take, where a style lets them wrap; Textual's has one."""
        return Widget.get_content_height(self, container, viewport, width)
