"""Two rows of honest numbers: how the speech is coming along, and with what.

A state that one row cannot hold takes both: what went wrong and what to do is worth more than figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Static

from .. import figures


@dataclass(frozen=True)
class Figures:
    """None is shown as `-`."""

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
        self.shown = Figures()
        self.state = ""

    def compose(self) -> ComposeResult:
        yield self._figures
        yield self._state

    def show(self, shown: Figures) -> None:
        if shown != self.shown:
            self.shown = shown
            self._draw()

    def say(self, state: str) -> None:
        """The line in words: what is happening, or what went wrong and what to do."""
        if state != self.state:
            self.state = state
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        s, width = self.shown, self.content_size.width
        wide = width >= 108
        fast = s.rtf is not None and s.rtf < 1
        pace = ("faster than real time" if fast else "slower than real time") if wide else "fast" if fast else "slow"
        judged = f" {pace}" if fast or (s.rtf is not None and s.steady) else ""
        parts = [  # the most telling first: those that there is no room for are left out
            f"first {'sound ' if wide else ''}{figures.seconds(s.first_audio)}",
            f"RTF {figures.rtf(s.rtf)}{judged}",
            f"{s.frames} frames",
            f"buffer {figures.seconds(s.lead)}",
            f"gaps {s.underruns}",
            f"{'memory ' if wide else ''}{figures.size(s.memory)}",
        ]
        while len(parts) > 1 and len(" · ".join(parts)) > width:
            parts.pop()
        self._figures.update(" · ".join(parts), layout=False)  # a layout at every tick costs much
        place = " · ".join(part for part in (s.model, s.device) if part)
        room = width - cell_len(self.state)
        self.set_class(room < 0, "-long")
        beside = f"{' ' * (room - cell_len(place))}{place}" if cell_len(place) + 3 <= room else ""
        self._state.update(self.state + beside, layout=False)


def slow_advice(rtf: float) -> str:
    """What helps when the model is slower than real time. Fits 80 columns with what is done before it."""
    return f"slower than real time ({rtf:.1f}x); a smaller model file helps"
