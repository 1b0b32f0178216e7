"""How far a long text is: one that is heard while it is made, whose parts go to the desk, or one made behind."""

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
        self._unkept: LiveReading | None = None  # of which this was told
        self._position = 0.0
        self._found = ("", 0)  # the editor's text, and where the last sentence stands in it

    def begin(self, utterance: object) -> None:
        """Something else is heard; a long text tells of itself when its parts are known."""
        self._utterance = utterance if isinstance(utterance, LiveReading) else None
        self._position, self._found = 0.0, ("", 0)
        self.look()

    def moved(self, utterance: LiveReading) -> None:
        reading, maker, app = utterance.reading, utterance.maker, self._screen.app
        if utterance.unkept and utterance is not self._unkept:
            self._unkept = utterance
            # a notice: the state line goes on telling what is heard
            what = f"{app.explain(utterance.unkept)}\nIt is heard all the same, but not all of its parts are kept."
            app.notify(what, severity="warning", timeout=12)
        if reading is None or maker is None:
            return
        app.desk.moved(reading, maker)
        if utterance.ended.is_set():
            app.remembered()
        if utterance is self._utterance and reading.given and not utterance.place:
            utterance.place = lambda span: self._place(reading, span)
        self.look()

    def show(self, position: float) -> None:
        """It is heard at this second."""
        self._position = position
        self.look()

    def look(self) -> None:
        """Something may have changed, here or at the desk."""
        if not self._screen.is_current or not self._screen.app.has_desk:
            return
        utterance, desk = self._utterance, self._screen.app.desk
        reading = utterance.reading if utterance else None
        if utterance and reading and self._screen.app.main.speech.audible is utterance:
            self._draw_heard(utterance, reading)
        elif desk.current:
            self._draw_made(desk.now(desk.current))
        elif reading:
            self._draw_kept(reading)
        else:
            self._bar.remove_class("-heard")

    def leave(self) -> HeardPart | None:
        """What is heard of it, if anything is."""
        utterance, speech = self._utterance, self._screen.app.main.speech
        if utterance is None or utterance.reading is None or speech.audible is not utterance:
            return None
        return HeardPart(utterance.reading, utterance.part_at(self._position), not utterance.ended.is_set())

    def _draw_heard(self, utterance: LiveReading, reading: Reading) -> None:
        count, made, whole, length = self._lengths(reading)
        share = min(1.0, self._position / whole) if whole else 0.0
        words = f"part {utterance.part_at(self._position) + 1} of {count} · {share:.0%}"
        left = f"{figures.clock(max(0.0, whole - self._position))} left of {length}"
        self._show(share, f"{words} · {left} · {made} made · F6 lists them", "$speaking")

    def _draw_made(self, reading: Reading) -> None:
        count, made, _, length = self._lengths(reading)
        found = self._screen.app.desk.estimate(reading)
        left = "" if found.left is None else f" · {figures.clock(found.left)} left"
        share = found.made / found.whole if found.whole else 0.0
        words = f"made in the background: part {min(count, made + 1)} of {count} · {share:.0%}"
        self._show(share, f"{words}{left} · {length} in all · F7 lists such texts", "$paused")

    def _draw_kept(self, reading: Reading) -> None:
        count, made, _, length = self._lengths(reading)
        go_on = "F6 lists them, ^s begins with what is there" if made < count else "F6 lists them"
        self._show(made / count, f"{made} of {count} parts are kept · {length} · {go_on}", "$done")

    def _lengths(self, reading: Reading) -> tuple[int, int, float, str]:
        """How many parts, how many of them are there, the seconds of all, and these in words."""
        desk, count = self._screen.app.desk, len(reading.parts)
        made, whole = desk.made.get(reading.id, 0), desk.estimate(reading).whole
        return count, made, whole, f"{'' if made == count else 'about '}{figures.clock(whole)}"

    def _show(self, share: float, words: str, style: str) -> None:
        self._bar.add_class("-heard")
        self._bar.show(share, words, style)

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
