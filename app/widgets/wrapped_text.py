"""A text area whose picture is right after every resize."""

from __future__ import annotations

from textual.widgets import TextArea


class WrappedText(TextArea):
    def on_resize(self) -> None:
        """The screen may have drawn the new size with the lines of the old wrapping before this event arrives, and when
        the new wrapping has as many lines, nothing else asks for another picture: words would be missing from it."""
        self.refresh()
