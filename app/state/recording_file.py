"""A recording under way, on disk as it grows, so that the end of the process does not end the take."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from s2mlx.files import private_folder

from .take_file import as_bytes, first_line

if TYPE_CHECKING:
    import numpy as np

INTERVAL = 1.0  # seconds of a recording that a crash may cost

Heard = Callable[[int], "tuple[np.ndarray, float]"]  # heard(n): samples float32 from sample n on, and their rate in Hz


class RecordingFile:
    """The file of one recording, `path`, which nobody has used before."""

    def __init__(self, path: Path):
        self.path = path

    def write_on(self, heard: Heard, begin: float, transcript: str, name: str) -> RecordingWriter:
        """Write what is heard from second `begin` on, until `RecordingWriter.end`."""
        return RecordingWriter(self, heard, begin, transcript, name)

    def open(self, rate: int, transcript: str, name: str) -> int:
        """The file with its first line, as a descriptor. Raises OSError."""
        private_folder(self.path.parent)
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _write(file, first_line(rate, transcript, name))
        except OSError:
            os.close(file)
            raise
        return file

    def drop(self) -> None:
        """The recording is kept elsewhere, or nobody wants it. Raises OSError."""
        self.path.unlink(missing_ok=True)


class RecordingWriter:
    """The thread that writes. What it cannot write (a full disk) is in memory still, and told when the take ends."""

    def __init__(self, file: RecordingFile, heard: Heard, begin: float, transcript: str, name: str):
        self._file, self._heard, self._begin = file, heard, begin
        self._notes = transcript, name
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="s2mlx-recording-file", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Write no more. Waits for a write under way."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        _, rate = self._heard(0)
        at = int(self._begin * rate)
        try:
            file = self._file.open(int(rate), *self._notes)
        except OSError:
            return
        try:
            while not self._ended.is_set():
                samples, _ = self._heard(at)
                at += len(samples)
                _write(file, as_bytes(samples))
                self._ended.wait(INTERVAL)
        except OSError:
            return
        finally:
            os.close(file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
