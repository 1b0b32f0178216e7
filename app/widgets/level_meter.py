"""A level meter in dBFS with peak hold and a clipping count, drawn in one row."""

from __future__ import annotations

import math
import time
from typing import Any

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

FLOOR = -60.0  # dBFS at the left end
HOLD = 1.5  # seconds a peak stays marked


class LevelMeter(Widget):
    """`█` is the RMS, `▒` reaches to the peak, `┃` holds the highest peak of the last moments."""

    COMPONENT_CLASSES = {"levelmeter--good", "levelmeter--hot", "levelmeter--frame"}

    def __init__(self, clock=time.monotonic, **kwargs: Any):
        super().__init__(**kwargs)
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        self.peak = self.rms = self.held = -math.inf
        self.clipped, self._heard = 0, False
        self._held_at = 0.0
        self.refresh()

    def show(self, peak: float, rms: float, clipped: int = 0) -> None:
        """Levels of the last block in dBFS (-inf for silence); `clipped` samples so far."""
        self._heard, now = True, self._clock()
        if peak >= self.held or now - self._held_at > HOLD:
            self.held, self._held_at = peak, now
        self.peak, self.rms, self.clipped = peak, rms, clipped
        self.refresh()

    def render_line(self, y: int) -> Strip:
        said = "" if not self._heard else "silent" if self.held <= FLOOR * 2 else f"{self.held:4.0f} dB"
        label = f" {said}" + (f"  CLIPPED {self.clipped}x" if self.clipped else "")
        width = max(4, self.size.width - max(24, len(label)) - 2)
        cell = lambda level: 0 if level <= FLOOR else min(width, round((1 - level / FLOOR) * width))
        solid, shade, mark = cell(self.rms), cell(self.peak), cell(self.held)
        bar = ("█" * solid + "▒" * max(0, shade - solid)).ljust(width, "·")
        if mark:
            bar = bar[: mark - 1] + "┃" + bar[mark:]
        hot = cell(-6.0)
        frame, good, loud = (self.get_component_rich_style(f"levelmeter--{n}") for n in ("frame", "good", "hot"))
        return Strip(
            [
                Segment("▕", frame),
                Segment(bar[:hot], good),
                Segment(bar[hot:], loud),
                Segment("▏", frame),
                Segment(label, loud if self.clipped else frame),
            ]
        ).adjust_cell_length(self.size.width, frame)
