"""The sound of a long text into one file, or one for each chapter: piece by piece, so that a book needs no memory."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    subtitles: Sequence[str] = (),
    written: Callable[[Path], None] = lambda path: None,
) -> float:
    """Write what there is of each; seconds in all. subtitles: the endings of those that lie beside it. `written(path)`
    is called when one is whole; one that is cancelled is not there. Raises AudioError, OSError, JobCancelled."""
    options, seconds, gain, told = reading.speech_options(), 0.0, 1.0, 0.0
    if options.normalize:
        peak = 0.0
        for piece in readings.whole(reading, sounds, 0, len(reading.parts)):
            _go_on(job)
            peak = max(peak, float(abs(piece).max(initial=0.0)))
        gain = PEAK / peak if peak > 0 else 1.0
    for path, first, end in files:
        cues = _Cues(reading)
        with studio.open_sound(path, reading.rate) as file:
            pieces = readings.pieces(reading, sounds, first, end)
            for piece in _trimmed(cues.of(pieces) if subtitles else (one for _, one in pieces), reading, options.trim):
                _go_on(job)
                file.write(piece * gain if gain != 1.0 else piece)
                seconds += len(piece) / reading.rate
                if time.monotonic() - told > REPORTS:
                    told = time.monotonic()
                    job.report(None, f"writing {path.name}: {seconds:.0f} s  (esc cancels)")
            _go_on(job)
        for ending in subtitles:
            cues.write(path.with_suffix(ending))
        written(path)
    return seconds


def _go_on(job: Job) -> None:
    if job.cancel.is_set():
        raise JobCancelled


class _Cues:
    """What is said when in one file."""

    def __init__(self, reading: Reading):
        self._reading, self._seconds, self._cues = reading, 0.0, list[Any]()

    def of(self, pieces: Iterable[tuple[int | None, np.ndarray]]) -> Iterator[np.ndarray]:
        """The samples, as they pass by."""
        from s2mlx.listen import cues_of

        reading = self._reading
        for number, samples in pieces:
            if number is not None:
                self._cues += cues_of(reading.words(number), samples, reading.rate, self._seconds)
            self._seconds += len(samples) / reading.rate
            yield samples

    def write(self, path: Path) -> None:
        from s2mlx.files import write_bytes
        from s2mlx.listen import subtitle_file

        write_bytes(path, subtitle_file(self._cues, path.suffix))


def _trimmed(pieces: Iterator[np.ndarray], reading: Reading, trim: bool) -> Iterator[np.ndarray]:
    """Without the silence at the very end, if so wished."""
    last: np.ndarray | None = None
    for piece in pieces:
        if last is not None:
            yield last
        last = piece
    if last is not None:
        if trim:
            from s2mlx.audio import trim_end

            last = trim_end(last, reading.rate)
        yield last


def free_path(folder: Path, title: str, ending: str) -> Path:
    """FOLDER/the-first-words.flac, or -2, -3, ... where there is such a file."""
    stem = "-".join(re.findall(r"\w+", title)[:8]).lower()[:60] or "speech"
    number, path = 1, folder / f"{stem}{ending}"
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{ending}"
    return path
