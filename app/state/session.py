"""What must survive a crash, as files: the text being written and a take that is not yet a voice.

FOLDER/text.json     the text of the app that wrote last
FOLDER/takes/N/...   the take of each app that runs (own_folder), and its recording under way (recording_file)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2mlx.errors import S2Error
from s2mlx.files import private_folder, private_opener, read_npy

from .json_files import read_json, write_json
from .own_folder import OwnFolder
from .recording_file import RecordingFile


@dataclass(frozen=True)
class UnsavedTake:
    """A take found at the start: samples float32 [n], what was read, and the name it was to get."""

    samples: np.ndarray
    rate: int
    transcript: str
    name: str


class Session:
    """The state folder's view of one session."""

    def __init__(self, folder: Path):
        self._text = folder / "text.json"
        self._own = OwnFolder(folder / "takes")
        self._take, self._take_notes = self._own.folder / "take.npy", self._own.folder / "take.json"
        self.recording_file = RecordingFile(self._own.folder)

    def text(self) -> str:
        stored = read_json(self._text)
        text = stored.get("text") if isinstance(stored, dict) else None
        return text if isinstance(text, str) else ""

    def keep_text(self, text: str) -> None:
        """Raises OSError."""
        write_json(self._text, {"text": text})

    def keep_take(self, samples: np.ndarray, rate: int, transcript: str, name: str = "") -> None:
        """Put a take where a crash cannot reach it. Raises OSError."""
        private_folder(self._take.parent)
        temporary = self._take.with_name("take.tmp")
        with open(temporary, "wb", opener=private_opener) as file:
            np.save(file, np.asarray(samples, np.float32), allow_pickle=False)
        write_json(self._take_notes, {"rate": rate, "transcript": transcript, "name": name})
        temporary.replace(self._take)

    def unsaved_take(self) -> UnsavedTake | None:
        """The take that was kept and not dropped; None when there is none or it is damaged."""
        notes = read_json(self._take_notes)
        if not isinstance(notes, dict) or not self._take.exists():
            return None
        try:
            samples = read_npy(self._take)
            rate = int(notes["rate"])
        except (S2Error, ValueError, KeyError, TypeError, OverflowError):
            return None
        if samples.ndim != 1 or samples.dtype != np.float32 or not len(samples) or not 0 < rate <= 768_000:
            return None
        return UnsavedTake(samples, rate, str(notes.get("transcript", "")), str(notes.get("name", "")))

    def adopt_broken_recording(self) -> None:
        """A recording that the end of the process broke off becomes the unsaved take, unless a longer one is kept.
        Raises OSError; the recording stays where it is then."""
        found = self.recording_file.broken_off()
        if found is None:
            return
        samples, rate, _, _ = found
        kept = self.unsaved_take()
        if kept is None or len(kept.samples) / kept.rate < len(samples) / rate:
            self.keep_take(*found)
        self.recording_file.drop()

    def drop_take(self) -> None:
        """The take has become a voice, or the user let it go."""
        for path in (self._take_notes, self._take):
            path.unlink(missing_ok=True)
        self.recording_file.drop()

    def leave(self) -> None:
        """What is kept is for the next app now."""
        self._own.leave()
