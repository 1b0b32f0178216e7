"""The palette of tags: stage directions and speakers by group, filtered by typing, to put at the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from .. import tags
from ..widgets.key_line import KeyLine

if TYPE_CHECKING:
    from .main import MainScreen


class TagPalette(ModalScreen[str | None]):
    """Dismissed with the tag, or None. `heeded`: the model takes directions; one that does not has them in grey.
    `speakers`: the names bound to 0, 1, ..."""

    CSS_PATH = "tag_palette.tcss"
    BINDINGS = [
        Binding("escape", "leave", "Cancel"),
        Binding("enter", "choose", "Insert", priority=True),
        Binding("up", "move(-1)", "Another", key_display="↑/↓", priority=True),
        Binding("down", "move(1)", "Next", show=False, priority=True),
    ]

    def __init__(self, heeded: bool, speakers: Sequence[str]):
        super().__init__()
        self._heeded, self._speakers = heeded, speakers
        self._tags: list[str | None] = []  # line by line; None: a heading

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="tag-palette"):
            title = "Tags" if self._heeded else "Tags: the model ignores [ ]"
            yield Label(title, classes="title", markup=False)
            yield Input(placeholder="type to find one, or a direction of your own", id="tag", compact=True)
            yield OptionList(id="tag-lines", markup=False, compact=True)
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self._show("")
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, typed: str) -> None:
        lines, found = self.query_one(OptionList), tags.palette(typed, self._speakers)
        self._tags, options = [], []
        for group, members in found:
            self._tags.append(None)
            options.append(Option(Content.styled(group, "bold"), disabled=True))
            for tag, remark in members:
                self._tags.append(tag)
                options.append(Option(self._line(tag, remark)))
        lines.clear_options()
        lines.add_options(options)
        lines.highlighted = next((n for n, tag in enumerate(self._tags) if tag), None)

    def _line(self, tag: str, remark: str) -> Content:
        heeded = self._heeded or not tag.startswith("[")
        colour = "$primary" if tag.startswith("<") else "$direction" if heeded else "$text-disabled"
        return Content.assemble("  ", (tag, colour), *([(f"  {remark}", "$text-muted")] if remark else []))

    def action_move(self, by: int) -> None:
        lines = self.query_one(OptionList)
        lines.action_cursor_down() if by > 0 else lines.action_cursor_up()

    def _choose(self, at: int | None) -> None:
        if at is not None and self._tags[at]:
            self.dismiss(self._tags[at])

    def action_choose(self) -> None:
        self._choose(self.query_one(OptionList).highlighted)

    def on_input_submitted(self) -> None:
        self.action_choose()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._choose(event.option_index)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:  # beside the dialog
            self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)


def open_tags(screen: MainScreen) -> None:
    """To put one at the cursor."""
    engine = screen.app.loader.engine

    def put(tag: str | None) -> None:
        if tag:
            screen.editor.insert(tag)

    heeded = engine is None or engine.config.dialogue
    screen.app.push_screen(TagPalette(heeded, screen.editor.speakers), put)
