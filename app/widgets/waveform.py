"""A live waveform: sound drawn as it arrives, with the playhead and what waits to be heard.

The last row is a ruler in minutes and seconds: `━` heard, `┿` the playhead, `─` made and waiting, then marks alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from .. import figures
from ..speaking.envelope import Envelope, braille

if TYPE_CHECKING:
    import numpy as np


class Waveform(Widget):
    """Shows [0, span) seconds; the span doubles while the sound grows and fits when it is whole."""

    COMPONENT_CLASSES = {"waveform--heard", "waveform--waiting", "waveform--head", "waveform--ruler"}
    FIRST_SPAN = 5.0
    APART = 12  # columns between two marks of the ruler, at least

    class Sought(Message):
        """A click asks to hear from `seconds` on."""

        def __init__(self, waveform: Waveform, seconds: float):
            super().__init__()
            self.waveform, self.seconds = waveform, seconds

        @property
        def control(self) -> Waveform:
            return self.waveform

    def __init__(self, hint: str = "", **kwargs: Any):
        super().__init__(**kwargs)
        self.hint = hint
        self.envelope = Envelope()
        self.position: float | None = None  # seconds heard; None: nothing is playing
        self._whole = False
        self._shown: np.ndarray | None = None
        self._drawn: tuple | None = None
        self._lines: list[str] = []
        self._styles: dict[str, Style] = {}

    # what the owner says

    def clear(self, rate: int = 44100) -> None:
        self.envelope = Envelope(rate)
        self.position, self._whole, self._drawn, self._shown = None, False, None, None
        self.refresh()

    def extend(self, samples: np.ndarray) -> None:
        """More sound. While something plays it is drawn with the next move of the playhead."""
        self.envelope.extend(samples)
        if self.position is None:
            self.refresh()

    def complete(self, samples: np.ndarray | None = None) -> None:
        """No more sound comes; `samples` is all of it, to know it again."""
        self._whole = True
        self._shown = samples if samples is not None else self._shown
        self.refresh()

    def show(self, samples: np.ndarray, rate: int) -> None:
        """A whole sound at once; quick when it is there already."""
        if samples is not self._shown:
            self.clear(rate)
            self.envelope.extend(samples)
            self.complete(samples)

    def play_at(self, position: float | None) -> None:
        """Move the playhead to `position` seconds. Within a column of the same picture there is nothing to draw."""
        before, self.position = self._head(), position
        if self._head() != before or self._state() != self._drawn:
            self.refresh()

    def _head(self) -> int | None:
        return None if self.position is None else self.column_of(self.position)

    def _state(self) -> tuple:
        """What the wave's picture depends on."""
        return self.size.width, self.size.height - 1, self.envelope.samples, self._whole, self.first, self.span

    # the picture

    @property
    def span(self) -> float:
        """Seconds the width stands for."""
        seconds = self.envelope.seconds
        if self._whole and seconds:
            return seconds
        span = self.FIRST_SPAN
        while span < seconds:
            span *= 2
        return span

    @property
    def first(self) -> float:
        """The second at the left edge."""
        return 0.0

    def seconds_at(self, event: events.MouseEvent) -> float:
        """The second of the sound that the mouse is at."""
        share = (event.x - self.gutter.left) / self.size.width
        return min(max(0.0, self.first + share * self.span), self.envelope.seconds)

    def column_of(self, seconds: float) -> int:
        return min(self.size.width - 1, int((seconds - self.first) / self.span * self.size.width))

    def render_line(self, y: int) -> Strip:
        width, rows = self.size.width, self.size.height - 1
        if not width:
            return Strip.blank(0)
        if y >= rows:
            return self._ruler(width)
        if not self.envelope.samples:
            text = self.hint.center(width)[:width] if y == rows // 2 else " " * width
            return Strip([Segment(text, self._style("ruler"))], width)
        line = self._wave(width, rows)[y]
        if self.position is None:
            return Strip([Segment(line, self._style("heard"))], width)
        head = self.column_of(self.position)
        return Strip(
            [
                Segment(line[:head], self._style("heard")),
                Segment("│", self._style("head")),
                Segment(line[head + 1 :], self._style("waiting")),
            ],
            width,
        )

    def _wave(self, width: int, rows: int) -> list[str]:
        if self._state() != self._drawn:
            self._drawn = self._state()
            self._lines = braille(self.envelope.columns(2 * width, self.span, self.first), rows)
        return self._lines

    def _ruler(self, width: int) -> Strip:
        made, span = self.envelope.seconds, self.span
        if not made:
            return Strip.blank(width, self._style("ruler"))
        end, head = min(width, max(1, round(made / span * width))), self._head()
        heard = 0 if head is None else head
        line = ("━" * heard + "─" * (end - heard)).ljust(width)
        step = _step(span, width // self.APART)
        clock = figures.clock if step >= 1 else figures.fine_clock
        for number in range(int(span / step) + 1):
            column, mark = int(number * step / span * width), clock(number * step)
            if column + len(mark) <= width:
                line = line[:column] + mark + line[column + len(mark) :]
        if head is None:
            return Strip([Segment(line, self._style("ruler"))], width)
        return Strip(
            [
                Segment(line[:head], self._style("heard")),
                Segment("┿", self._style("head")),
                Segment(line[head + 1 :], self._style("ruler")),
            ],
            width,
        )

    def _style(self, part: str) -> Style:
        """Kept: finding it costs more than drawing a line with it."""
        if part not in self._styles:
            self._styles[part] = self.get_component_rich_style(f"waveform--{part}")
        return self._styles[part]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = {}

    def on_click(self, event: events.Click) -> None:
        if self.envelope.samples and self.size.width:
            self.post_message(self.Sought(self, self.seconds_at(event)))


def _step(span: float, most: int) -> float:
    """Seconds between marks, a round number, so that [0, span) has about `most` of them and no more."""
    for step in (0.5,) * (span < 3) + (1, 2, 5, 10, 15, 30, 60, 120, 300, 600):
        if span / step <= max(1, most):
            return step
    return 1800
