"""The last row: the keys of the moment, or that the terminal is too small."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.geometry import Size
from textual.widgets import Footer, Static

if TYPE_CHECKING:
    from textual.widgets._footer import FooterKey

KEPT = ("app.help", "command_palette", "quit")  # all other keys are found through the first two
SMALLEST = Size(40, 12)  # columns and rows in which each screen can be used


class KeyLine(Footer):
    """As many keys as there is room for: those of the focused pane first, then the screen's, then the app's."""

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)

    def compose(self) -> ComposeResult:
        size = self.app.size
        if size.width < SMALLEST.width or size.height < SMALLEST.height:
            needed = f"{SMALLEST.width} x {SMALLEST.height}"
            hint = f"make the terminal larger: {needed}"
            yield Static(hint if len(hint) <= size.width else f"needs {needed}", id="too-small", markup=False)
            return
        keys = cast("list[FooterKey]", list(super().compose()))
        for key in reversed(keys):
            if sum(map(_width, keys)) <= size.width + 1:
                break
            if key.action not in KEPT:
                keys = [other for other in keys if other is not key]
        yield from keys

    def on_mount(self) -> None:
        self._fits = self.app.size
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._refit())

    def _refit(self) -> None:
        """Another height of the terminal counts too, and that is no resize of this row."""
        if self.app.size != self._fits:
            self._fits = self.app.size
            self.call_after_refresh(self.recompose)


def _width(key: FooterKey) -> int:
    """Columns of a key with the gap after it."""
    return cell_len(key.key_display) + 1 + cell_len(key.description) + 1
