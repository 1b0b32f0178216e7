"""The last row: the keys of the moment. Knows bindings, not what they do."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.widgets import Footer

KEPT = ("app.help", "command_palette")  # all other keys are found through these


class KeyLine(Footer):
    """As many keys as there is room for: those of the focused pane first, then the screen's, then the app's."""

    def __init__(self):
        super().__init__(compact=True, show_command_palette=False)

    def compose(self) -> ComposeResult:
        keys = list(super().compose())
        for key in reversed(keys):
            if sum(map(_width, keys)) <= self.app.size.width + 1:
                break
            if key.action not in KEPT:
                keys = [other for other in keys if other is not key]
        yield from keys

    def on_resize(self) -> None:
        self.call_after_refresh(self.recompose)


def _width(key) -> int:
    """Columns of a key with the gap after it."""
    return cell_len(key.key_display) + 1 + cell_len(key.description) + 1
