"""A long text that is heard while it is made: how far it is, in a bar, and its parts for the desk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import figures
from ..speaking.live_reading import LiveReading
from ..widgets.editor import Editor
from ..widgets.progress_line import ProgressLine
from .base import AppScreen

if TYPE_CHECKING:
    from ..state.reading import Reading


class HeardPart(NamedTuple):
    """The part that was heard when the user turned to the parts; `goes_on`: it was still being made."""

    reading: Reading
    number: int
    goes_on: bool


class HeardReading:
    """A part of the speech. The bar is there as long as it has something to tell."""

    def __init__(self, screen: AppScreen, bar: ProgressLine, editor: Editor):
        self._screen, self._bar, self._editor = screen, bar, editor
        self._utterance: LiveReading | None = None
        self._position = 0.0
        self._found = ("", 0)  # the editor's text, and where the last sentence stands in it

    def begin(self, utterance: object) -> None:
        """Something else is heard; a long text tells of itself when its parts are known."""
        self._utterance = utterance if isinstance(utterance, LiveReading) else None
        self._position = 0.0
        self._bar.remove_class("-heard")

    def moved(self, utterance: LiveReading) -> None:
        reading, maker, app = utterance.reading, utterance.maker, self._screen.app
        if reading is None or maker is None:
            return
        app.desk.moved(reading, maker)
        if utterance.ended.is_set():
            app.remembered()
        if utterance is not self._utterance:
            return
        if reading.given and not utterance.place:
            utterance.place = lambda span: self._place(reading, span)
        self._draw(not utterance.ended.is_set())

    def show(self, position: float) -> None:
        """It is heard at this second."""
        self._position = position
        self._draw(True)

    def ended(self) -> None:
        """Nothing of it is heard any more."""
        self._draw(False)

    def leave(self) -> HeardPart | None:
        """What is heard of it, if anything is."""
        utterance, speech = self._utterance, self._screen.app.main.speech
        if utterance is None or utterance.reading is None or speech.audible is not utterance:
            return None
        return HeardPart(utterance.reading, utterance.part_at(self._position), not utterance.ended.is_set())

    def _draw(self, sounds: bool) -> None:
        utterance, desk = self._utterance, self._screen.app.desk
        if utterance is None or utterance.reading is None:
            return
        reading = utterance.reading
        self._bar.add_class("-heard")
        count, made = len(reading.parts), desk.made.get(reading.id, 0)
        whole = desk.estimate(reading).whole
        length = f"{'' if made == count else 'about '}{figures.clock(whole)}"
        if sounds:
            share = min(1.0, self._position / whole) if whole else 0.0
            words = f"part {utterance.part_at(self._position) + 1} of {count} · {share:.0%}"
            left = f"{figures.clock(max(0.0, whole - self._position))} left of {length}"
            self._bar.show(share, f"{words} · {left} · {made} made · F6 lists them", "$speaking")
        else:
            go_on = "F6 lists them, ^s begins with what is there" if made < count else "F6 lists them"
            self._bar.show(made / count, f"{made} of {count} parts are kept · {length} · {go_on}", "$done")

    def _place(self, reading: Reading, span: tuple[int, int]) -> tuple[int, int] | None:
        """Where a sentence stands in the text of the editor, whose Markdown is not read aloud."""
        text, words = self._editor.text, reading.text[slice(*span)].strip()
        begin = self._found[1] if self._found[0] == text else 0
        at = text.find(words, begin)
        at = text.find(words) if at < 0 else at
        if at < 0 or not words:
            return None
        self._found = text, at
        return at, at + len(words)
