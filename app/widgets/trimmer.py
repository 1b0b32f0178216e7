"""A whole waveform with two handles, for cutting a take to what should be kept."""

from __future__ import annotations

from collections.abc import Sequence
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
CLOSEST = 1.0  # seconds that the width stands for at least
BEFORE, AFTER = 0.1, 0.35  # seconds of a pause that stay before and after speech


class Trimmer(Waveform, can_focus=True):
    """`begin` and `end` are the handles, in seconds. What lies outside is drawn as dots on the middle line."""

    PLACE = "the waveform"  # for the help
    BINDINGS = [
        Binding("left", "move(-1, False)", "Trim", key_display="←/→"),
        Binding("right", "move(1, False)", "Trim", show=False),
        Binding("shift+left", "move(-1, True)", "Trim more", key_display="shift+←/→", show=False),
        Binding("shift+right", "move(1, True)", "Trim more", show=False),
        Binding("left_square_bracket", "take('begin')", "Start", key_display="["),
        Binding("right_square_bracket", "take('end')", "End", key_display="]"),
        Binding("p", "hear", "Hear this cut", show=False),
        Binding("s", "snap", "To the nearest pause", show=False),
        Binding("comma", "pause(-1)", "To the pause before", key_display=",", show=False),
        Binding("full_stop", "pause(1)", "To the next pause", key_display=".", show=False),
        Binding("plus,equals_sign", "zoom(2)", "Closer", key_display="+", show=False),
        Binding("minus", "zoom(0.5)", "Wider", key_display="-", show=False),
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

    class CutAsked(Message):
        """The handle in the hand is to be heard: from the start on, or up to the end."""

        def __init__(self, at_end: bool):
            super().__init__()
            self.at_end = at_end

    def __init__(self, hint: str = "", **kwargs: Any):
        super().__init__(hint, **kwargs)
        self.begin, self.end = 0.0, 0.0
        self.active = "begin"
        self.pauses: Sequence[tuple[float, float]] = ()  # seconds [begin, end) where nothing is said
        self.levels = ""  # of what is kept, in words
        self._zoom, self._first = 1.0, 0.0
        self._dragging = False

    def show(self, samples: np.ndarray, rate: int, begin: float = 0.0, end: float | None = None) -> None:
        if samples is not self._shown:
            self._zoom, self._first = 1.0, 0.0
        super().show(samples, rate)
        self.begin, self.end = begin, self.envelope.seconds if end is None else end
        self.refresh()

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        if action in ("snap", "pause"):
            return self._whole and bool(self.pauses)
        return self._whole if action in ("move", "take", "whole", "hear", "zoom") else True

    def why_not(self, action: str, parameters: tuple) -> str:
        if self._whole and self.envelope.samples:
            return "there is no pause in this take to go to"
        return "there is no whole take to trim yet"

    # what is seen

    @property
    def span(self) -> float:
        return super().span / (self._zoom if self._whole else 1.0)

    @property
    def first(self) -> float:
        return self._first if self._whole else 0.0

    @property
    def held(self) -> float:
        """Where the handle in the hand stands, in seconds."""
        return self.begin if self.active == "begin" else self.end

    def action_zoom(self, factor: float) -> None:
        closest = max(1.0, self.envelope.seconds / CLOSEST)
        self._zoom = min(max(1.0, self._zoom * factor), closest)
        self._look_at(self.held, centred=True)

    def _look_at(self, seconds: float, centred: bool = False) -> None:
        """Keep this second in sight."""
        span, margin = self.span, self.span / 10
        if centred or not self._first + margin <= seconds <= self._first + span - margin:
            self._first = min(max(0.0, seconds - span / 2), max(0.0, self.envelope.seconds - span))
        self.refresh()

    # the handles

    def action_take(self, handle: str) -> None:
        self.active = handle
        self._look_at(self.held)

    def action_move(self, direction: int, far: bool) -> None:
        """A key moves a handle by less where it is seen from closer."""
        step = direction * (LEAP if far else STEP) / max(1.0, self._zoom / 2)
        self._set(self.active, self.held + step)
        self._look_at(self.held)

    def action_whole(self) -> None:
        self.begin, self.end = 0.0, self.envelope.seconds
        self._zoom, self._first = 1.0, 0.0
        self._moved()

    def action_hear(self) -> None:
        self.post_message(self.CutAsked(self.active == "end"))

    def action_snap(self) -> None:
        self._go_to(min(self._cuts(), key=lambda at: abs(at - self.held), default=self.held))

    def action_pause(self, direction: int) -> None:
        beyond = [at for at in self._cuts() if (at - self.held) * direction > 1e-3]
        if beyond:
            self._go_to(min(beyond, key=lambda at: abs(at - self.held)))

    def _cuts(self) -> list[float]:
        """Where the handle in the hand may cut without touching a word: a little way into each pause."""
        if self.active == "begin":
            return [max(begin, end - BEFORE) for begin, end in self.pauses if end < self.end]
        return [min(end, begin + AFTER) for begin, end in self.pauses if begin > self.begin]

    def _go_to(self, seconds: float) -> None:
        self._set(self.active, seconds)
        self._look_at(self.held)

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
        last = round((self.envelope.seconds - self.first) / self.span * width) - 1
        left, right = self._column(self.begin), min(self._column(self.end), last)
        head = None if self.position is None else self._column(self.position)
        outside = "·" if y == rows // 2 else " "
        marks = {
            left: "┃" if self.active == "begin" else "│",
            right: "┃" if self.active == "end" else "│",
            **({head: "╎"} if head is not None and left < head < right else {}),
        }
        parts, at = [], 0
        for mark in [*sorted(column for column in marks if 0 <= column < width), width]:
            if mark > at:
                within = left < at < right
                style = "ruler" if not within else "waiting" if head is not None and at > head > left else "heard"
                parts.append(Segment(line[at:mark] if within else outside * (mark - at), self._style(style)))
            if mark < width:
                parts.append(Segment(marks[mark], self._style("head")))
            at = mark + 1
        return Strip(parts).adjust_cell_length(width)

    def _column(self, seconds: float) -> int:
        """Where a second lies, be it beside what is seen."""
        return int((seconds - self.first) // (self.span / self.size.width))

    def _ruler(self, width: int) -> Strip:
        if not self._whole:
            return super()._ruler(width)
        which = "start" if self.active == "begin" else "end"
        kept = (
            f"{figures.seconds(self.begin)} to {figures.seconds(self.end)}: "
            f"{figures.seconds(self.end - self.begin)} kept"
        )
        last = self.first + self.span
        seen = "" if self._zoom == 1 else f"  seen: {figures.seconds(self.first)} to {figures.seconds(last)}"
        text, left = kept, f" {self.levels}" if len(self.levels) + 3 + len(kept) <= width else ""
        for more in (f", moving the {which}", seen):  # the most telling first
            text += more if len(left) + 2 + len(text + more) <= width else ""
        return Strip([Segment(left + text[:width].rjust(width - len(left)), self._style("ruler"))], width)

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
