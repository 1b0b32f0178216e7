"""Long texts in the order in which they are made, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.binding import Binding
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class QueueList(OptionList):
    PLACE = "the queue"  # for the help
    BINDINGS = [Binding("enter", "select", "Its parts")]

    def __init__(self, **kwargs: Any):
        super().__init__(markup=False, compact=True, **kwargs)
        self._rows: list[tuple[str, Content]] | None = None  # not drawn yet

    @property
    def current(self) -> str | None:
        """The id of the one in the hand."""
        return None if self.highlighted is None else self.get_option_at_index(self.highlighted).id

    def show(self, rows: Sequence[tuple[str, Content]]) -> None:
        """Replace the rows, of (id, words); the one in the hand stays in the hand."""
        rows = list(rows)
        if rows == self._rows:
            return
        if self._rows and [id for id, _ in rows] == [id for id, _ in self._rows]:
            for id, words in rows:
                self.replace_option_prompt(id, words)
        else:
            current, at = self.current, self.highlighted or 0
            self.clear_options()
            self.add_options(
                [Option(words, id=id) for id, words in rows]
                or [Option("nothing yet: a adds the text of the editor, f a file", disabled=True)]
            )
            ids = [id for id, _ in rows]
            if rows:
                self.highlighted = ids.index(current) if current in ids else min(at, len(rows) - 1)
        self._rows = rows
