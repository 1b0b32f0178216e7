"""The last step before the terminal: whatever a widget shows, nothing in it steers the terminal."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from s2mlx.text import visible


class VisibleLines(LineFilter):
    """Control characters of texts, names and devices as signs. A line keeps its width: what the signs take is missing
    at its end."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(segment.text.isprintable() for segment in segments):  # nearly always, and quickly known
            return segments
        shown = [segment if segment.control else Segment(visible(segment.text), segment.style) for segment in segments]
        if all(new.text is old.text for new, old in zip(shown, segments)):
            return segments
        width = sum(segment.cell_length for segment in segments)
        return list(Strip(shown).crop(0, width))
