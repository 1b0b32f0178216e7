"""Two rows: where the sound is and how the speech is coming along, in numbers; what goes on, and with what.

A state that one row cannot hold takes both, and more where it needs them: what went wrong and what to do is worth more
than figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from .. import figures

Mood = Literal["", "working", "speaking", "paused", "failed", "done"]
SIGNS: dict[Mood, str] = {"": "", "working": "◌", "speaking": "▶", "paused": "‖", "failed": "✗", "done": "✓"}


@dataclass(frozen=True)
class Figures:
    """What is None is not shown, such as the `lead` while nothing is heard."""

    first_audio: float | None = None
    rtf: float | None = None
    steady: bool = True  # rtf is of enough sound to call it slow
    frames: int = 0
    lead: float | None = None
    underruns: int = 0
    memory: int | None = None
    model: str = ""
    device: str = ""


class StatusLine(Widget):
    """The first row holds figures of the utterance, the second the state, the model and the device."""

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self._figures, self._state = Static(id="figures", markup=False), Static(id="state", markup=False)
        self._clock = Static(id="clock", markup=False)
        self.shown = Figures()
        self.state = ""
        self.mood: Mood = ""
        self._time = ""

    def compose(self) -> ComposeResult:
        with Horizontal(id="numbers"):
            yield self._clock
            yield self._figures
        yield self._state

    def show(self, shown: Figures) -> None:
        if shown != self.shown:
            self.shown = shown
            self._draw()

    def show_time(self, position: float | None, made: float) -> None:
        """Seconds heard of those that are made; a whole that is silent has its length alone."""
        clock = figures.fine_clock
        time = "" if not made else clock(made) if position is None else f"{clock(position)} / {clock(made)}"
        if time != self._time:
            as_long = len(time) == len(self._time)  # as it is nearly always: nothing moves
            self._time = time
            self._clock.set_class(bool(time), "-some")
            self._clock.update(time, layout=not as_long)
            if not as_long:
                self._draw()

    def say(self, state: str, mood: Mood = "") -> None:
        """The line in words: what is happening, or what went wrong and what to do. `mood` gives sign and colour."""
        if (state, mood) != (self.state, self.mood):
            self.state, self.mood = state, mood
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        s, width = self.shown, self.content_size.width
        room = width - (len(self._time) + 2 if self._time else 0)
        words = self._words(True)
        if cell_len(words.rpartition(" · ")[0]) > room:
            words = self._words(False)
        while cell_len(words) > room and " · " in words:
            words = words.rpartition(" · ")[0]
        self._figures.update(words, layout=False)  # a layout at every tick costs much
        place = " · ".join(part for part in (s.model, s.device) if part)
        sign = SIGNS[self.mood]
        said = f"{sign} {self.state}" if sign and cell_len(self.state) + 2 <= width else self.state
        room = width - cell_len(said)
        rows_change = room < 0 or self.has_class("-long")
        self.set_class(room < 0, "-long")
        for mood in SIGNS:
            if mood:
                self._state.set_class(mood == self.mood, f"-{mood}")
        beside = f"{' ' * (room - cell_len(place))}{place}" if cell_len(place) + 3 <= room else ""
        self._state.update(Content.assemble(said, (beside, "$faint")), layout=rows_change)

    def _words(self, long: bool) -> str:
        """The figures, the most telling first: those at the end that there is no room for are left out."""
        s = self.shown
        memory = f"{'memory ' if long else ''}{figures.size(s.memory)}" if s.memory else ""
        if not s.frames:
            return memory
        fast = s.rtf is not None and s.rtf < 1
        pace = ("faster than real time" if fast else "slower than real time") if long else "fast" if fast else "slow"
        judged = f" {pace}" if fast or (s.rtf is not None and s.steady) else ""
        parts = [
            "" if s.first_audio is None else f"first {'sound ' if long else ''}{figures.seconds(s.first_audio)}",
            "" if s.rtf is None else f"RTF {figures.rtf(s.rtf)}{judged}",
            "" if s.lead is None else f"buffer {f'{s.lead:.1f} s':>6}",  # as wide as it gets: what follows stands still
            f"gaps {s.underruns}",
            memory,
            f"{s.frames} frames",
        ]
        return " · ".join(filter(None, parts))
