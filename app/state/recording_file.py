"""A recording under way, on disk as it grows, so that the end of the process does not end the take.

Raw little-endian float32 samples beside a note of what they are, in a folder that no other app uses.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from s2mlx.files import open_regular, private_folder

from .json_files import read_json, write_json

INTERVAL = 1.0  # seconds of a recording that a crash may cost
LEAST = 1.0  # seconds; less is not worth a question

Heard = Callable[[int], tuple[np.ndarray, float]]  # heard(n): samples float32 from sample n on, and their rate in Hz


class RecordingFile:
    """The files of the recording under way, or of the one that broke off."""

    def __init__(self, folder: Path):
        self._samples, self._notes = folder / "recording.f32", folder / "recording.json"

    def write_on(self, heard: Heard, begin: float, transcript: str, name: str) -> RecordingWriter:
        """Write what is heard from second `begin` on, until `RecordingWriter.end`."""
        return RecordingWriter(self, heard, begin, transcript, name)

    def open(self, rate: int, transcript: str, name: str) -> int:
        """An empty file as a descriptor. Raises OSError."""
        private_folder(self._samples.parent)
        file = os.open(self._samples, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            write_json(self._notes, {"rate": rate, "transcript": transcript, "name": name})
        except OSError:
            os.close(file)
            raise
        return file

    def broken_off(self) -> tuple[np.ndarray, int, str, str] | None:
        """samples float32 [n], rate, transcript, name of a recording that nobody ended; None without one."""
        notes = read_json(self._notes)
        try:
            with open_regular(self._samples) as file:
                data = file.read()
            rate = int(notes["rate"])
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return None
        samples = np.frombuffer(data, "<f4", len(data) // 4).astype(np.float32)  # the last sample may be torn
        if not 0 < rate <= 768_000 or len(samples) < LEAST * rate:
            return None
        return samples, rate, str(notes.get("transcript", "")), str(notes.get("name", ""))

    def drop(self) -> None:
        """The recording is kept elsewhere, or nobody wants it. Raises OSError."""
        for path in (self._notes, self._samples):
            path.unlink(missing_ok=True)


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
                _write(file, np.ascontiguousarray(samples, "<f4").tobytes())
                self._ended.wait(INTERVAL)
        except OSError:
            return
        finally:
            os.close(file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
