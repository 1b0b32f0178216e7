"""The sentence to read aloud: in a language of choice, or one's own words. It becomes the take's transcript."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Select

from ..recording.sentences_aloud import languages, sentence
from .marked_words import MarkedWords

TITLE = "Read this aloud, or write your own words"


class ReadingCard(Vertical):
    class LanguageChosen(Message):
        def __init__(self, language: str):
            super().__init__()
            self.language = language

    def __init__(self, language: str, words: str | None = None, longest: float = math.inf, **kwargs: Any):
        """`words` stand instead of a sentence of that language. longest: seconds of a voice that the model follows."""
        super().__init__(**kwargs)
        self._number, self._longest = 0, longest
        known = [code for _, code in languages()]
        self.language = language if language in known else known[0]
        self._area = MarkedWords(
            self._sentence() if words is None else words,
            id="words",
            tab_behavior="focus",
            highlight_cursor_line=False,
        )
        self.fixed = words is not None  # a take is in the hand: another language leaves its words

    def compose(self) -> ComposeResult:
        yield Select(languages(), value=self.language, allow_blank=False, id="language", compact=True)
        yield self._area

    def on_resize(self) -> None:
        """The language stands in the same row."""
        self._area.border_title = TITLE if self.size.width >= len(TITLE) + 24 else TITLE.partition(",")[0]

    def _sentence(self) -> str:
        return sentence(self.language, self._number, self._longest)

    @property
    def words(self) -> str:
        return self._area.text

    def next(self) -> None:
        """Another sentence of the language."""
        self._number += 1
        self.put(self._sentence())

    def undo(self) -> bool:
        """False where there is nothing to undo."""
        some = bool(self._area.history.undo_stack)
        self._area.undo()
        return some

    def put(self, words: str) -> None:
        """Other words in place of those that are there; undo brings them back."""
        if words != self._area.text:
            self._area.put(words)

    def mark(self, spans: Sequence[tuple[int, int]]) -> None:
        """Words, as characters [begin, end), that were heard otherwise; until the words change."""
        self._area.mark(spans)

    def tell(self, text: str) -> None:
        """Something about the words, in their frame; until they change."""
        # after the change of words that may be on its way, which takes it away
        self.call_after_refresh(lambda: setattr(self._area, "border_subtitle", escape(text)))

    @on(Select.Changed)
    def _chosen(self, event: Select.Changed) -> None:
        event.stop()
        if event.value == self.language:
            return
        self.language, self._number = str(event.value), 0
        if not self.fixed:
            self.put(self._sentence())
        self.post_message(self.LanguageChosen(self.language))
