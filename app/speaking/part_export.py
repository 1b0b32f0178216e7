"""The sound of a long text into one file, or one for each chapter: piece by piece, so that a book needs no memory."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.protocols import Studio
from ..jobs import Job, JobCancelled
from ..state.reading import PartSound, Reading
from ..state.readings import Readings

if TYPE_CHECKING:
    import numpy as np

REPORTS = 0.2  # seconds between words of how far it is
PEAK = 0.95  # of full scale, as `Options.normalize` has it


def files_of(reading: Reading, path: Path, by_chapter: bool) -> list[tuple[Path, int, int]]:
    """(file, first part, end) of each: out.wav, or out-001.wav, out-002.wav, ... as the command line numbers them."""
    if not by_chapter or not reading.chapters:
        return [(path, 0, len(reading.parts))]
    begins = [at for at, _ in reading.chapters]
    begins[0] = 0
    return [
        (path.with_name(f"{path.stem}-{number:03}{path.suffix}"), begin, end)
        for number, (begin, end) in enumerate(zip(begins, [*begins[1:], len(reading.parts)]), 1)
    ]


def write_files(
    studio: Studio,
    readings: Readings,
    reading: Reading,
    sounds: dict[int, PartSound],
    files: list[tuple[Path, int, int]],
    job: Job,
) -> float:
    """Write what there is of each; seconds in all. Raises AudioError, OSError, JobCancelled."""
    options, seconds, gain, told = reading.speech_options(), 0.0, 1.0, 0.0
    if options.normalize:
        peak = max(abs(piece).max(initial=0.0) for piece in readings.whole(reading, sounds, 0, len(reading.parts)))
        gain = PEAK / float(peak) if peak > 0 else 1.0
    for path, first, end in files:
        with studio.open_sound(path, reading.rate) as file:
            for piece in _trimmed(readings.whole(reading, sounds, first, end), reading.rate, options.trim):
                if job.cancel.is_set():
                    raise JobCancelled
                file.write(piece * gain if gain != 1.0 else piece)
                seconds += len(piece) / reading.rate
                if time.monotonic() - told > REPORTS:
                    told = time.monotonic()
                    job.report(None, f"writing {path.name}: {seconds:.0f} s")
    return seconds


def _trimmed(pieces: Iterator[np.ndarray], rate: int, trim: bool) -> Iterator[np.ndarray]:
    """Without the silence at the very end, if so wished."""
    last: np.ndarray | None = None
    for piece in pieces:
        if last is not None:
            yield last
        last = piece
    if last is not None:
        if trim:
            from s2mlx.audio import trim_end

            last = trim_end(last, rate)
        yield last


def free_path(folder: Path, title: str, ending: str) -> Path:
    """FOLDER/the-first-words.flac, or -2, -3, ... where there is such a file."""
    stem = "-".join(re.findall(r"\w+", title)[:8]).lower()[:60] or "speech"
    number, path = 1, folder / f"{stem}{ending}"
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{ending}"
    return path
