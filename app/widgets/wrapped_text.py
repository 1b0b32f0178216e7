"""A text area whose picture is right after every resize."""

from __future__ import annotations

from textual.widgets import TextArea


class WrappedText(TextArea):
    def on_resize(self) -> None:
        """The screen may have drawn the new size with the lines of the old wrapping before this event arrives, and when
        the new wrapping has as many lines, nothing else asks for another picture: words would be missing from it."""
        self.refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("undo", "redo"):
            return bool(self.history.undo_stack if action == "undo" else self.history.redo_stack)
        return super().check_action(action, parameters)

    def why_not(self, action: str, parameters: tuple) -> str:
        """Also an undo that does nothing answers."""
        return f"there is nothing to {action} in the text" if action in ("undo", "redo") else ""

    def put(self, text: str) -> None:
        """Another text in place of what is there, in one step that undo takes back."""
        self.history.checkpoint()
        self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)
        self.history.checkpoint()
        self.move_cursor((0, 0))
