"""A part of the recording screen: a recognizer, where there is one, hears a take, and the card says what it said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.hearing import HeardTake
from ..state.take_file import UnsavedTake
from ..widgets.reading_card import ReadingCard
from .base import AppScreen

if TYPE_CHECKING:
    from ..app import S2App


class TakeListener:
    """Words that were spoken freely stand in the card afterwards; of a sentence that was read, those are marked that
    were heard otherwise. Whatever a person wrote meanwhile stays."""

    def __init__(self, screen: AppScreen):
        self._screen = screen

    def listen(self, take: UnsavedTake, card: ReadingCard) -> None:
        """On a job's thread; nothing waits for it."""
        app: S2App = self._screen.app
        words, language, studio = card.words, app.settings.language, app.studio

        def done(heard: HeardTake | None) -> None:
            if heard and card.words == words:
                self._show(heard, card)

        app.jobs.start(
            "hear",
            lambda job: studio.hear_take(take.samples, take.rate, words, language),
            owner=self._screen,
            done=done,
            failed=lambda error: card.tell(app.explain(error)),
        )

    def _show(self, heard: HeardTake, card: ReadingCard) -> None:
        if heard.freely:
            card.put(heard.text)
            card.tell(f"these words were heard{', badly: read them closely' * bool(heard.doubt)}; ^z brings back")
        else:
            card.mark(heard.wrong)
            card.tell(heard.doubt or "✓ heard word for word")
