"""A take in one file: a line of JSON that says what it is, and its samples behind that.

{"rate": 44100, "transcript": "...", "name": "...", "samples": 352800}, a line end, float32 little-endian. While a take
is being recorded its line has no "samples": it is as long as its file, whose last sample may be torn.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s2mlx.errors import reason
from s2mlx.files import open_regular
from s2mlx.text import clean_text

from .broken import Damaged
from .json_files import read_bytes, table

if TYPE_CHECKING:
    import numpy as np

LONGEST_LINE = 1 << 20  # bytes
LARGEST = 1 << 30  # bytes: more than an hour; a take has half a minute
HIGHEST_RATE = 768_000  # Hz
LOUDEST = 64.0  # of a sample; 1 is full scale


@dataclass(frozen=True)
class UnsavedTake:
    """A take that is no voice yet: samples float32 [n], n > 0, what was read, and the name it was to get. `file`: where
    it is kept, None while it is in memory only. What lies in seconds [begin, end) is to become the voice; `end` None:
    nobody has cut it yet. `best`: of those of its sitting."""

    samples: np.ndarray
    rate: int
    transcript: str = ""
    name: str = ""
    file: Path | None = None
    begin: float = 0.0
    end: float | None = None
    best: bool = False


def first_line(rate: int, transcript: str, name: str, samples: int | None = None) -> bytes:
    notes: dict[str, Any] = {"rate": rate, "transcript": transcript, "name": name}
    return json.dumps(notes if samples is None else notes | {"samples": samples}).encode() + b"\n"


def as_bytes(samples: np.ndarray) -> bytes:
    import numpy as np

    return np.ascontiguousarray(samples, "<f4").tobytes()


def take_bytes(take: UnsavedTake) -> bytes:
    return first_line(take.rate, take.transcript, take.name, len(take.samples)) + as_bytes(take.samples)


def read_take(path: Path) -> UnsavedTake | None:
    """None where there is no file, or nothing was recorded into it yet. Raises Damaged."""
    import numpy as np

    data = read_bytes(path, LARGEST)
    if data is None:
        return None
    line, _, sound = data.partition(b"\n")
    notes = table(line)
    samples = np.frombuffer(sound, "<f4", len(sound) // 4)
    if "samples" in notes and (notes["samples"] != len(samples) or len(sound) % 4):
        raise Damaged("it is cut off, or goes on behind its end")
    return checked(samples, notes, path)


def look_at_take(path: Path) -> UnsavedTake | None:
    """A take of which nothing but its first line is read: its samples stay in the file, unchecked, until somebody wants
    them. None where there is none, or nothing in it. Raises Damaged."""
    import numpy as np

    try:
        with open_regular(path) as file:
            line = file.readline(LONGEST_LINE)
        samples = (path.stat().st_size - len(line)) // 4
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as fault:
        raise Damaged(reason(fault)) from fault
    if not line.endswith(b"\n"):
        raise Damaged("its first line does not end")
    if samples <= 0:
        return None
    notes = table(line)
    found = checked(np.zeros(1, np.float32), notes, path)
    sound = np.memmap(path, "<f4", "r", len(line), (samples,))
    return found and replace(found, samples=sound)


def checked(samples: np.ndarray, notes: dict[str, Any], path: Path | None) -> UnsavedTake | None:
    """The take of samples float32 [n] and notes from outside, None without sound. Raises Damaged."""
    import numpy as np

    rate, transcript, name = notes.get("rate"), notes.get("transcript", ""), notes.get("name", "")
    if not isinstance(rate, int) or not 0 < rate <= HIGHEST_RATE:
        raise Damaged("it does not say its rate")
    if not isinstance(transcript, str) or not isinstance(name, str):
        raise Damaged("its words or its name are no text")
    if not len(samples):
        return None
    sound = np.where(np.abs(samples) <= LOUDEST, samples, 0).astype(np.float32)  # no microphone gives anything else
    return UnsavedTake(sound, rate, clean_text(transcript), clean_text(name), path)
