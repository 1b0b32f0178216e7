"""The list of voices: which speaker each is bound to, its length, language and outline. Says what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ..tags import SPEAKERS

OWN = "model's own voice"


@dataclass(frozen=True)
class VoiceRow:
    """One saved voice as shown. `trouble` says why it cannot be used."""

    name: str
    seconds: float = 0.0
    language: str = ""
    outline: str = ""
    trouble: str = ""


class VoiceList(OptionList):
    """Row 0 is the model's own voice; a number before a name is the speaker it is bound to."""

    PLACE = "the list of voices"  # for the help
    BINDINGS = [
        Binding("space", "ask('audition')", "Listen"),
        Binding("a", "ask('add')", "Add"),
        Binding("r", "ask('rename')", "Rename"),
        Binding("d,delete", "ask('delete')", "Delete"),
        Binding("u", "ask('undo')", "Undo"),
        Binding("i", "ask('import')", "Import", show=False),
        Binding("e", "ask('export')", "Export", show=False),
        Binding("0", "bind(0)", "Speaker", key_display="0-9"),
        *[Binding(str(n), f"bind({n})", show=False) for n in range(1, SPEAKERS)],
    ]

    class Asked(Message):
        """`what` is to be done with voice `name` (None on the model's own)."""

        def __init__(self, what: str, name: str | None):
            super().__init__()
            self.what, self.name = what, name

    class SpeakerChosen(Message):
        """Voice `name` (None: the model's own) is to speak as `speaker`."""

        def __init__(self, name: str | None, speaker: int):
            super().__init__()
            self.name, self.speaker = name, speaker

    def __init__(self, **kwargs: Any):
        super().__init__(markup=False, **kwargs)
        self.rows: list[VoiceRow] = []
        self.cast: tuple[str | None, ...] = ()
        self.can_undo = False  # a deleted voice may come back
        self._lined = 0  # the width that the lines were made for

    def on_mount(self) -> None:
        self.border_subtitle = "^r records"

    def on_focus(self) -> None:
        self.border_subtitle = "^r records  a adds"
        self.call_after_refresh(self._keep_in_sight)

    def on_blur(self) -> None:
        self.border_subtitle = "^r records"
        self.call_after_refresh(self._keep_in_sight)

    def _keep_in_sight(self) -> None:
        """The highlighted voice, or, from elsewhere, the one that speaks: there may be room for one only."""
        speaks = self.cast[0] if self.cast else None
        row = next((n for n, row in enumerate(self.rows, 1) if row.name == speaks), 0)
        row = self.highlighted or 0 if self.has_focus else row
        self._fit()
        self.scroll_to_region(Region(0, row, 1, 1), animate=False, force=True)

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        return self.can_undo if (action, parameters) == ("ask", ("undo",)) else True

    def show(self, rows: Sequence[VoiceRow], cast: tuple[str | None, ...]) -> None:
        """Replace the rows, keeping the highlight on the same voice."""
        kept = self.current if self.rows else (cast[0] if cast else None)
        self.rows, self.cast = list(rows), cast
        self.clear_options()
        self._lined = self._width
        self.add_options([Option(self._line(row)) for row in (None, *self.rows)])
        names = [None, *(row.name for row in self.rows)]
        self.highlighted = names.index(kept) if kept in names else 0
        self.call_after_refresh(self._keep_in_sight)

    @property
    def current(self) -> str | None:
        """The highlighted voice; None on the model's own."""
        index = self.highlighted
        return self.rows[index - 1].name if index and index <= len(self.rows) else None

    def highlight(self, name: str | None) -> None:
        names = [None, *(row.name for row in self.rows)]
        if name in names:
            self.highlighted = names.index(name)

    def action_ask(self, what: str) -> None:
        self.post_message(self.Asked(what, self.current))

    def action_bind(self, speaker: int) -> None:
        self.post_message(self.SpeakerChosen(self.current, speaker))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.SpeakerChosen(self.current, 0))

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        self.call_after_refresh(self._keep_in_sight)

    def _fit(self) -> None:
        """Lines as long as there is room, which is less once the rows have brought a scroll bar."""
        if self._lined == self._width:
            return
        self._lined = self._width
        for index, row in enumerate((None, *self.rows)):
            if index < self.option_count:
                self.replace_option_prompt_at_index(index, self._line(row))

    @property
    def _width(self) -> int:
        return max(16, self.scrollable_content_region.width or 26)

    def _line(self, row: VoiceRow | None) -> Content:
        width = self._width
        name = row.name if row else None
        numbers = (
            [str(n) for n, bound in enumerate(self.cast) if bound == name]
            if row
            else ([] if any(self.cast[:1]) else ["0"])
        )
        badge = (("▸" + "".join(numbers[:2]) if numbers else "").ljust(3), "$speaking bold")
        if row is None:
            return Content.assemble(badge, (OWN[: width - 3], "italic"))
        if row.trouble:
            return Content.assemble(badge, (row.name[: width - 14], "$faint"), (" ! unusable", "$failed"))
        cells = 10 if width >= 34 else 5
        facts, outline = f"{row.seconds:5.1f} s {row.language[:2]:<2}", f" {row.outline[:cells]:<{cells}} "
        room = max(4, width - 4 - len(facts) - len(outline))
        name = row.name if len(row.name) <= room else row.name[: room - 1] + "…"
        return Content.assemble(badge, f"{name:<{room}} ", (facts, "$faint"), (outline, "$outline"))
