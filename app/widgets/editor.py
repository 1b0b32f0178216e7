"""The text: an editor that completes tags, marks them, and marks the sentence being heard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Offset
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from .. import tags
from ..speaking.moved_text import MovedText
from .wrapped_text import WrappedText

_WIDTH, _HEIGHT = 30, 7  # of the menu, at most
_NARROW = 10  # columns; a tag would not be recognised in less
_NO_TAGS = "this model ignores [tags]"
_INVITATION = "Type what is to be said."


class _Area(WrappedText):
    """The text area itself; keys go to the open menu first."""

    # Without colour these still differ: tags are italic, the sentence being heard is bold and underlined.
    COMPONENT_CLASSES = {"text--heard", "text--misheard", "text--direction", "text--ignored", "text--speaker"}

    def __init__(self, menu: OptionList, **kwargs: Any):
        super().__init__(
            soft_wrap=True, tab_behavior="focus", show_line_numbers=False, highlight_cursor_line=False, **kwargs
        )
        self._menu = menu
        self.heard: tuple[int, int] | None = None  # characters [begin, end) that are marked as being heard
        self.misheard: list[tuple[int, int]] = []  # characters that a check did not hear
        self.directed = True  # the model heeds tags in square brackets
        self.left_alone = True  # nobody has typed into it since the speech began
        self._starts = [0]

    def mark(self, span: tuple[int, int] | None) -> bool:
        """Mark characters [begin, end) as being heard. True when that changed the picture."""
        if span == self.heard:
            return False
        self.heard = span
        self._restyle()
        return True

    def mark_misheard(self, spans: list[tuple[int, int]]) -> None:
        if spans != self.misheard or spans:
            self.misheard = spans
            self._restyle()

    def _restyle(self) -> None:
        starts = [0]
        for line in self.document.lines:
            starts.append(starts[-1] + len(line) + 1)
        self._starts = starts
        self.notify_style_update()
        self.refresh()

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        style = lambda what, partial=True: self.get_component_rich_style(f"text--{what}", partial=partial)
        if self.heard and line_index < len(self._starts):
            start = self._starts[line_index]
            begin, end = self.heard[0] - start, self.heard[1] - start
            if begin < len(line.plain) and end > 0:
                line.stylize(style("heard", False), max(0, begin), min(len(line.plain), end))
        for begin, end in self.misheard if line_index < len(self._starts) else ():
            begin, end = begin - self._starts[line_index], end - self._starts[line_index]
            if begin < len(line.plain) and end > 0:
                line.stylize(style("misheard"), max(0, begin), min(len(line.plain), end))
        for begin, end in tags.spans(line.plain):
            what = "speaker" if line.plain[begin] == "<" else "direction" if self.directed else "ignored"
            line.stylize(style(what), begin, end)
        return line

    async def _on_key(self, event: events.Key) -> None:
        menu = self._menu
        self.left_alone = False
        if menu.display and menu.highlighted is None:  # it only says something
            if event.key == "escape":
                event.stop()
                self._close()
                return
        elif menu.display:
            moves = {
                "down": menu.action_cursor_down,
                "up": menu.action_cursor_up,
                "tab": menu.action_select,
                "enter": menu.action_select,
                "escape": self._close,
            }
            if event.key in moves:
                event.stop()
                event.prevent_default()
                moves[event.key]()
                return
        await super()._on_key(event)

    def _close(self) -> None:
        self._menu.display = False


class Editor(Container):
    """A text area and its completion menu."""

    def __init__(self, text: str = "", **kwargs: Any):
        super().__init__(**kwargs)
        self.menu = OptionList(id="tag-menu", markup=False)
        self.menu.can_focus = False
        self.menu.display = False
        self.area = _Area(self.menu, text=text, id="text")
        self.take_tags(True)
        self.speakers: Sequence[str] = ()
        self._start = ""
        self._choices: list[tuple[str, str]] = []
        self._spoken, self._within = "", ("", 0)  # the text that the marks are of; what it is a part of, from where on
        self._moved: MovedText | None = None  # since then
        self._misheard: tuple[str, list[tuple[int, int]]] = "", []  # of the text that was checked

    def compose(self) -> ComposeResult:
        yield self.area
        yield self.menu

    def take_tags(self, taken: bool) -> None:
        """Whether the model heeds tags in square brackets; every model heeds those of the speakers."""
        self._tags_taken = self.area.directed = taken
        self.area.notify_style_update()
        self.area.placeholder = f"{_INVITATION} [ opens the tags." if taken else _INVITATION

    @property
    def text(self) -> str:
        return self.area.text

    def put(self, text: str) -> None:
        """Another text in place of what is there; undo brings that back."""
        self.area.put(text)

    def follow(self, text: str, within: tuple[str, int] | None = None) -> None:
        """`text` is heard from now on: marks are of it, wherever its sentences stand by then. `within`: the text
        that it is a part of, and the character there at which it begins."""
        self._spoken, self._within, self._moved = text, within or (text, 0), None
        self.area.left_alone = True

    def append(self, words: str) -> None:
        """Put words at the end; a cursor that is there stays at the end, any other where it is."""
        area = self.area
        follows = area.selection.is_empty and area.cursor_location == area.document.end
        area.insert(words, area.document.end, maintain_selection_offset=not follows)
        if follows:
            area.move_cursor(area.document.end)

    def insert(self, words: str) -> None:
        """Put words at the cursor, in place of what is selected, with a space where they would touch others."""
        (row, begin), (last, end) = sorted((self.area.selection.start, self.area.selection.end))
        before = self.area.document.get_line(row)[:begin]
        after = self.area.document.get_line(last)[end:]
        words = (" " if before[-1:].strip() else "") + words + (" " if after[:1].isalnum() else "")
        self.area.replace(words, (row, begin), (last, end), maintain_selection_offset=False)
        self.area.move_cursor((row, begin + len(words)))
        self.menu.display = False
        self.area.focus()

    def mark(self, span: tuple[int, int] | None) -> None:
        """Mark the sentence being heard, and keep it in sight as long as nobody types here."""
        if span:
            whole, at = self._within
            self._moved = self._moved or MovedText(whole, self.area.text)
            span = self._moved.find((max(0, span[0] + at), span[1] + at))
        self.mark_here(span)

    def mark_here(self, span: tuple[int, int] | None) -> None:
        """The same, for characters of the text as it is."""
        if self.area.mark(span) and span and (self.area.left_alone or not self.area.has_focus):
            text = self.area.text
            at = min(span[0], len(text))
            row, column = text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
            self.area.scroll_to(
                y=max(0, self.area.wrapped_document.location_to_offset((row, column)).y - 1), animate=False
            )

    def mark_misheard(self, text: str, spans: list[tuple[int, int]]) -> None:
        """Mark words of `text` that a check did not hear, wherever they stand by now; edited ones are none any more."""
        self._misheard = text, spans
        whole, at = self._within if text == self._spoken else (text, 0)
        moved = MovedText(whole, self.area.text) if spans else None
        self.area.mark_misheard([span for b, e in spans if moved and (span := moved.find((max(0, b + at), e + at)))])

    @property
    def place(self) -> int:
        """The character at the cursor."""
        return self._character(self.area.cursor_location)

    @property
    def selected(self) -> tuple[int, int]:
        """The characters [begin, end) that are selected."""
        begin, end = sorted((self.area.selection.start, self.area.selection.end))
        return self._character(begin), self._character(end)

    def _character(self, location: tuple[int, int]) -> int:
        row, column = location
        return sum(len(line) + 1 for line in self.area.document.lines[:row]) + column

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._moved = None
        if self._misheard[1]:
            self.mark_misheard(*self._misheard)
        self._offer()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        if self.menu.display:
            self._offer()

    def on_resize(self) -> None:
        self.menu.display = False

    def on_descendant_blur(self) -> None:
        self.menu.display = False

    def _offer(self) -> None:
        row, column = self.area.cursor_location
        start = tags.begun(self.area.document.get_line(row)[:column]) if self.area.has_focus else None
        self._choices = tags.completions(start, self.speakers) if start else []
        if not start or not self._choices or [c for c, _ in self._choices] == [start]:
            self.menu.display = False
            return
        if start.startswith("[") and not self._tags_taken:
            self._choices = []
            self._show([Option(_NO_TAGS, disabled=True)], len(start))
            return
        self._start = start
        self._show([Option(f"{tag}  {remark}".rstrip()) for tag, remark in self._choices], len(start))
        self.menu.highlighted = 0

    def _show(self, lines: Sequence[Option], typed: int) -> None:
        """Open the menu with nothing highlighted; `typed` characters before the cursor are the unfinished tag."""
        self.menu.clear_options()
        self.menu.add_options(lines)
        self.menu.display = self._place(typed)

    def _place(self, typed: int) -> bool:
        """The menu below the cursor's line, or above it where there is more room; it shrinks to the room there is.
        False where it could not be seen."""
        at = self.area.cursor_screen_offset - self.area.region.offset
        above, below = at.y, self.area.size.height - at.y - 1
        wanted = min(_HEIGHT, self.menu.option_count)
        height, width = min(wanted, max(above, below)), min(_WIDTH, self.area.size.width)
        if height < 1 or width < _NARROW:
            return False
        self.menu.styles.width, self.menu.styles.height = width, height
        x = max(0, min(at.x - typed, self.area.size.width - width))
        self.menu.styles.offset = Offset(x, at.y + 1 if below >= height else at.y - height)
        return True

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        tag = self._choices[event.option_index][0]
        row, column = self.area.cursor_location
        self.menu.display = False
        self.area.replace(tag, (row, column - len(self._start)), (row, column), maintain_selection_offset=False)
        self.area.move_cursor((row, column - len(self._start) + len(tag)))
        self.area.focus()
