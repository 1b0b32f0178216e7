"""The last row: the keys of the moment, or that the terminal is too small."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

KEPT = ("app.help", "command_palette", "quit")  # all other keys are found through the first two
SMALLEST = Size(40, 12)  # columns and rows in which each screen can be used


@dataclass(frozen=True)
class ShownKey:
    """`key` as Textual names it, `shown` as people do."""

    key: str
    shown: str
    description: str
    action: str
    enabled: bool
    ahead: bool  # of the focused pane: Textual has these first

    @property
    def width(self) -> int:
        """Columns, with the gap after it."""
        return cell_len(self.shown) + 1 + cell_len(self.description) + 1


class KeyLine(Widget):
    """As many keys as there is room for: those of the focused pane first, then the screen's, then the app's. One widget
    for all: a row of them is too dear for something that changes with the focus. A click presses the key."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[ShownKey] = []  # those shown

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self.screen.screen_layout_refresh_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen) -> None:
        if self.app.app_focus and self.is_attached and screen is self.screen:
            keys = self._fitting()
            if keys != self.keys or not keys:
                self.keys = keys
                self.refresh()

    def _fitting(self) -> list[ShownKey]:
        size = self.app.size
        if size.width < SMALLEST.width or size.height < SMALLEST.height:
            return []
        found: dict[str, ShownKey] = {}
        for _, binding, enabled, _ in self.screen.active_bindings.values():
            if binding.show:
                shown = self.app.get_key_display(binding)
                found.setdefault(
                    binding.action,
                    ShownKey(binding.key, shown, binding.description, binding.action, enabled, binding.priority),
                )
        keys = sorted(found.values(), key=lambda key: (key.action in KEPT, key.ahead))  # the most telling first
        for key in reversed(keys):
            if sum(other.width for other in keys) <= size.width + 1:
                break
            if key.action not in KEPT:
                keys = [other for other in keys if other is not key]
        return keys

    def render(self) -> Content:
        size = self.app.size
        if size.width < SMALLEST.width or size.height < SMALLEST.height:
            needed = f"{SMALLEST.width} x {SMALLEST.height}"
            hint = f"make the terminal larger: {needed}"
            return Content(hint if len(hint) <= size.width else f"needs {needed}")
        parts: list[tuple[str, str]] = []
        for key in self.keys:
            dim = "" if key.enabled else " dim"
            parts += [
                (key.shown, f"bold $footer-key-foreground{dim}"),
                (f" {key.description}", f"$footer-description-foreground{dim}"),
                (" ", ""),
            ]
        return Content.assemble(*parts[:-1])

    def on_mouse_down(self, event: events.MouseDown) -> None:
        at = event.x
        for key in self.keys:
            if 0 <= at < key.width - 1:
                self.app.simulate_key(key.key)  # one that is grey says why
            at -= key.width
