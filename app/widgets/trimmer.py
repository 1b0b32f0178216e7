"""A whole waveform with two handles, for cutting a take to what should be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip

from .. import figures
from .waveform import Waveform

if TYPE_CHECKING:
    import numpy as np

STEP, LEAP = 0.05, 0.5  # seconds a key moves a handle


class Trimmer(Waveform, can_focus=True):
    """`begin` and `end` are the handles, in seconds. What lies outside is drawn as dots on the middle line."""

    PLACE = "the waveform"  # for the help
    BINDINGS = [
        Binding("left", "move(-1, False)", "Trim", key_display="←/→"),
        Binding("right", "move(1, False)", "Trim", show=False),
        Binding("shift+left", "move(-1, True)", "Trim more", show=False),
        Binding("shift+right", "move(1, True)", "Trim more", show=False),
        Binding("left_square_bracket", "take('begin')", "Start", key_display="["),
        Binding("right_square_bracket", "take('end')", "End", key_display="]"),
        Binding("home", "whole", "Whole take", show=False),
    ]

    class Trimmed(Message):
        """The handles were moved."""

        def __init__(self, trimmer: Trimmer):
            super().__init__()
            self.trimmer = trimmer

        @property
        def control(self) -> Trimmer:
            return self.trimmer

    def __init__(self, hint: str = "", **kwargs: Any):
        super().__init__(hint, **kwargs)
        self.begin, self.end = 0.0, 0.0
        self.active = "begin"
        self._dragging = False

    def show(self, samples: np.ndarray, rate: int, begin: float = 0.0, end: float | None = None) -> None:
        super().show(samples, rate)
        self.begin, self.end = begin, self.envelope.seconds if end is None else end

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        return self._whole if action in ("move", "take", "whole") else True

    def action_take(self, handle: str) -> None:
        self.active = handle
        self.refresh()

    def action_move(self, direction: int, far: bool) -> None:
        step = direction * (LEAP if far else STEP)
        self._set(self.active, (self.begin if self.active == "begin" else self.end) + step)

    def action_whole(self) -> None:
        self.begin, self.end = 0.0, self.envelope.seconds
        self._moved()

    def _set(self, handle: str, seconds: float) -> None:
        if handle == "begin":
            self.begin = min(max(0.0, seconds), max(0.0, self.end - STEP))
        else:
            self.end = max(min(self.envelope.seconds, seconds), self.begin + STEP)
        self._moved()

    def _moved(self) -> None:
        self.refresh()
        self.post_message(self.Trimmed(self))

    def render_line(self, y: int) -> Strip:
        rows = self.size.height - 1
        if y >= rows or not self._whole or not self.envelope.samples:
            return super().render_line(y)
        line, width = self._wave(self.size.width, rows)[y], self.size.width
        left, right = self.column_of(self.begin), self.column_of(self.end)
        outside = "·" if y == rows // 2 else " "
        handle = {"begin": "┃" if self.active == "begin" else "│", "end": "┃" if self.active == "end" else "│"}
        inner = line[left + 1 : right]
        parts = [Segment(outside * left, self._style("ruler")), Segment(handle["begin"], self._style("head"))]
        if self.position is not None and left < self.column_of(self.position) < right:
            head = self.column_of(self.position) - left - 1
            parts += [
                Segment(inner[:head], self._style("heard")),
                Segment("╎", self._style("head")),
                Segment(inner[head + 1 :], self._style("waiting")),
            ]
        else:
            parts.append(Segment(inner, self._style("heard")))
        parts += [
            Segment(handle["end"], self._style("head")),
            Segment(outside * (width - right - 1), self._style("ruler")),
        ]
        return Strip(parts).adjust_cell_length(width)

    def _ruler(self, width: int) -> Strip:
        if not self._whole:
            return super()._ruler(width)
        which = "start" if self.active == "begin" else "end"
        text = (
            f"{figures.seconds(self.begin)} to {figures.seconds(self.end)}: "
            f"{figures.seconds(self.end - self.begin)} kept"
        )
        moving = f", moving the {which}"
        text += moving if len(text + moving) <= width else ""
        return Strip([Segment(text[:width].rjust(width), self._style("ruler"))], width)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self._whole and self.size.width:
            at = self.seconds_at(event)
            self.active = "begin" if abs(at - self.begin) <= abs(at - self.end) else "end"
            self._dragging = True
            self.capture_mouse()
            self._set(self.active, at)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging and self.size.width:
            self._set(self.active, self.seconds_at(event))

    def on_mouse_up(self) -> None:
        self._dragging = False
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()
