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

from .. import figures
from ..tags import SPEAKERS

OWN = "model's own voice"
BUNDLED = "bundled"


@dataclass(frozen=True)
class VoiceRow:
    """One saved voice as shown. `trouble` says why it cannot be used; `fits` which model takes it, and `again` that it
    is made again from its clip for it; `notes`: the user's."""

    name: str
    seconds: float = 0.0
    language: str = ""
    outline: str = ""
    trouble: str = ""
    bundled: bool = False
    fits: str = ""
    again: bool = False
    notes: str = ""

    @property
    def about(self) -> str:
        """All there is to say of it, in a line."""
        whose = "bundled" if self.bundled else "your own"
        facts = (whose, figures.seconds(self.seconds) if self.seconds else "", self.language, self.fits, self.trouble)
        return " · ".join(fact for fact in facts if fact)

    def matches(self, typed: str) -> bool:
        """Each word that was typed is in its name, language or notes."""
        written = f"{self.name} {self.language} {self.notes}".casefold()
        return all(word in written for word in typed.casefold().split())


class VoiceList(OptionList):
    """First the model's own voice, then the user's, then the bundled ones; a number before a name is the speaker it is
    bound to, `↻` says that the model takes it only anew, from its clip. `/` filters by what is typed then."""

    PLACE = "the list of voices"  # for the help
    BINDINGS = [
        Binding("space", "ask('audition')", "Listen"),
        Binding("a", "ask('add')", "Add"),
        Binding("r", "ask('rename')", "Rename"),
        Binding("n", "ask('card')", "Notes, settings", show=False),
        Binding("slash", "filter", "Filter", key_display="/", show=False),
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
        self.typed: str | None = None  # what the voices are filtered by, while they are
        self._shown: list[VoiceRow | str | None] = [None]  # line by line; None: the model's own; a text: a heading
        self._lined = 0  # the width that the lines were made for

    def on_mount(self) -> None:
        self.border_subtitle = "^r records"

    def on_focus(self) -> None:
        self.border_subtitle = "a adds  / filters"
        self.call_after_refresh(self._keep_in_sight)

    def on_blur(self) -> None:
        self.border_subtitle = "^r records"
        if self.typed is not None:
            self._end_filter()
        self.call_after_refresh(self._keep_in_sight)

    def _keep_in_sight(self) -> None:
        """The highlighted voice, or, from elsewhere, the one that speaks: there may be room for one only."""
        speaks = self.cast[0] if self.cast else None
        row = self._line_of(speaks) or 0
        row = self.highlighted or 0 if self.has_focus else row
        self._fit()
        self.scroll_to_region(Region(0, row, 1, 1), animate=False, force=True)

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        return self.can_undo if (action, parameters) == ("ask", ("undo",)) else True

    def why_not(self, action: str, parameters: tuple) -> str:
        return "no voice was deleted since the start: there is nothing to bring back"

    def show(self, rows: Sequence[VoiceRow], cast: tuple[str | None, ...]) -> None:
        """Replace the rows, keeping the highlight on the same voice."""
        kept = self.current if self.rows else (cast[0] if cast else None)
        self.rows, self.cast = list(rows), cast
        self._arrange(kept)

    def _arrange(self, highlight: str | None) -> None:
        """The lines anew."""
        if self.typed:
            self._shown = [row for row in self.rows if row.matches(self.typed)]
        else:
            own, bundled = [[row for row in self.rows if row.bundled is so] for so in (False, True)]
            self._shown = [None, *own, *([BUNDLED] if own and bundled else []), *bundled]
        self.border_title = "Voices" if self.typed is None else f"Voices / {self.typed}▏"
        self.clear_options()
        self._lined = self._width
        self.add_options([Option(self._line(row), disabled=isinstance(row, str)) for row in self._shown])
        at = self._line_of(highlight)
        self.highlighted = at if at is not None else 0 if self._shown else None
        self.call_after_refresh(self._keep_in_sight)

    def _line_of(self, name: str | None) -> int | None:
        """Where a voice stands; None: not there."""
        return next(
            (n for n, row in enumerate(self._shown) if not isinstance(row, str) and (row and row.name) == name), None
        )

    @property
    def current_row(self) -> VoiceRow | None:
        """The highlighted voice; None on the model's own."""
        at = self.highlighted
        row = self._shown[at] if at is not None and at < len(self._shown) else None
        return row if isinstance(row, VoiceRow) else None

    @property
    def current(self) -> str | None:
        """The name of the highlighted voice; None on the model's own."""
        return self.current_row.name if self.current_row else None

    def highlight(self, name: str | None) -> None:
        at = self._line_of(name)
        if at is not None:
            self.highlighted = at

    # filtering

    def action_filter(self) -> None:
        self.typed = ""
        self._arrange(self.current)

    def _end_filter(self) -> None:
        kept, self.typed = self.current, None
        self._arrange(kept)

    async def _on_key(self, event: events.Key) -> None:
        """While a filter is typed, letters belong to it."""
        if self.typed is None:
            return
        if event.key == "escape":
            self._end_filter()
        elif event.key == "backspace":
            self.typed = self.typed[:-1]
            self._arrange(self.current)
        elif event.character and event.is_printable:
            self.typed += event.character
            self._arrange(self.current)
        else:
            return
        event.stop()
        event.prevent_default()

    def action_ask(self, what: str) -> None:
        self.post_message(self.Asked(what, self.current))

    def action_bind(self, speaker: int) -> None:
        self.post_message(self.SpeakerChosen(self.current, speaker))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self._shown:
            self.post_message(self.SpeakerChosen(self.current, 0))
        if self.typed is not None:
            self._end_filter()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        self.call_after_refresh(self._keep_in_sight)

    def _fit(self) -> None:
        """Lines as long as there is room, which is less once the rows have brought a scroll bar."""
        if self._lined == self._width:
            return
        self._lined = self._width
        for index, row in enumerate(self._shown):
            if index < self.option_count:
                self.replace_option_prompt_at_index(index, self._line(row))

    @property
    def _width(self) -> int:
        return max(16, self.scrollable_content_region.width or 26)

    def _line(self, row: VoiceRow | str | None) -> Content:
        width = self._width
        if isinstance(row, str):
            return Content.styled(f"── {row} ".ljust(width, "─"), "$faint")
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
        name = row.name + (" ↻" if row.again else "")
        name = name if len(name) <= room else name[: room - 1] + "…"
        return Content.assemble(badge, f"{name:<{room}} ", (facts, "$faint"), (outline, "$outline"))
