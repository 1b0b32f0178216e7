"""What may change about a take after it was recorded, in a small file beside it, K.notes: its words and name, the cut,
and whether it is the best of its sitting. So nothing that was typed or chosen waits for the end of the app, and the
sound itself is written once.

{"transcript": "...", "name": "...", "begin": 0.2, "end": 8.1, "best": true}
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from s2mlx.text import clean_text

from .broken import Damaged
from .json_files import read_table, write_json
from .take_file import UnsavedTake

NOTES = ".notes"


def write_notes(take: UnsavedTake, path: Path) -> None:
    """Raises OSError."""
    notes = {"transcript": take.transcript, "name": take.name, "begin": take.begin, "end": take.end, "best": take.best}
    write_json(path, notes)


def with_notes(take: UnsavedTake, path: Path) -> UnsavedTake:
    """The take as its notes have it, or as it is where there are none. Raises Damaged."""
    notes = read_table(path)
    if notes is None:
        return take
    transcript, name, best = notes.get("transcript", take.transcript), notes.get("name", take.name), notes.get("best")
    if not isinstance(transcript, str) or not isinstance(name, str):
        raise Damaged("its words or its name are no text")
    begin, end = _cut(notes.get("begin"), notes.get("end"), len(take.samples) / take.rate)
    return dataclasses.replace(
        take, transcript=clean_text(transcript), name=clean_text(name), begin=begin, end=end, best=best is True
    )


def _cut(begin: Any, end: Any, seconds: float) -> tuple[float, float | None]:
    """A cut that lies in the take, or none."""
    if not all(isinstance(at, (int, float)) and not isinstance(at, bool) for at in (begin, end)):
        return 0.0, None
    return (float(begin), float(end)) if 0 <= begin < end <= seconds + 1e-3 else (0.0, None)
