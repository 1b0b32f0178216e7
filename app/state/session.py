"""What must survive a crash, as files: the text being written, and takes that are no voice yet.

FOLDER/takes/N/       of each app that runs (own_folder):
    text.json         its text
    K.take            a take (take_file)
    K.notes           what was changed about it since (take_notes)
    K.gone            a take that was deleted; it can be brought back for 30 days
    K.recording       a recording under way (recording_file), which becomes K.take
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from s2mlx.files import private_folder, write_bytes
from s2mlx.text import clean_text

from .broken import Damaged, put_aside
from .json_files import read_table, write_json
from .older_takes import SAMPLES, older_files, read_older
from .own_folder import OwnFolder
from .recording_file import RecordingFile
from .take_file import UnsavedTake, look_at_take, read_take, take_bytes
from .take_notes import NOTES, with_notes, write_notes

if TYPE_CHECKING:
    import numpy as np

LEAST = 1.0  # seconds; less of a recording that broke off is not worth a question
TEXT, TAKE, RECORDING, GONE = "text.json", ".take", ".recording", ".gone"
IN_BIN = 30 * 86400.0  # seconds that a deleted take can be brought back


class Session:
    """The state folder's view of one session. `complaints`: a line for each damaged file met so far."""

    def __init__(self, folder: Path):
        self.complaints: list[str] = []
        self._own = OwnFolder(folder / "takes", _left_behind)
        self._text = self._own.folder / TEXT
        self._older_text = folder / TEXT  # of versions in which all apps shared one

    # the text

    def text(self) -> str:
        for path in (self._text, self._older_text):
            try:
                stored = read_table(path)
                if stored is None:
                    continue
                if not isinstance(text := stored.get("text"), str):
                    raise Damaged("it holds no text")
                return clean_text(text)
            except Damaged as fault:
                self.complaints.append(put_aside(path, fault))
        return ""

    def keep_text(self, text: str) -> None:
        """Raises OSError."""
        write_json(self._text, {"text": text})
        self._older_text.unlink(missing_ok=True)

    # takes

    def new_recording(self) -> RecordingFile:
        return RecordingFile(self._own.folder / f"{self._free_number()}{RECORDING}")

    def keep_take(
        self, samples: np.ndarray, rate: int, transcript: str, name: str = "", of: RecordingFile | None = None
    ) -> UnsavedTake:
        """Put a take, perhaps `of` a recording, where a crash cannot reach it. No take takes the place of another.
        Raises OSError."""
        import numpy as np

        number = of.path.stem if of else str(self._free_number())
        file = self._own.folder / f"{number}{TAKE}"
        take = UnsavedTake(np.asarray(samples, np.float32), rate, transcript, name, file)
        private_folder(file.parent)
        write_bytes(file, take_bytes(take), private=True)
        return take

    def keep_anew(self, take: UnsavedTake) -> UnsavedTake:
        """Keep a take whose words or name have changed, or that could not be kept before. Raises OSError."""
        if take.file is None:
            kept = self.keep_take(take.samples, take.rate, take.transcript, take.name)
            take = replace(take, file=kept.file)
        assert take.file is not None
        write_notes(take, take.file.with_suffix(NOTES))
        return take

    def unsaved_takes(self) -> list[UnsavedTake]:
        """The takes that were kept and not dropped, the oldest first."""
        return [take for path in self._files(TAKE) if (take := self._read(path))]

    def listed_takes(self) -> list[UnsavedTake]:
        """The same for a list of them, without reading their sound: `whole` has one to hear or change."""
        found = []
        for path in self._files(TAKE):
            with suppress(Damaged):  # told by who wants it whole
                if take := look_at_take(path):
                    found.append(with_notes(take, path.with_suffix(NOTES)))
        return found

    def whole(self, take: UnsavedTake) -> UnsavedTake | None:
        """One of the list; None when it is gone, or damaged."""
        return self._read(take.file) if take.file else take

    def adopt_broken_recordings(self) -> None:
        """A recording that the end of the process broke off becomes a take, unless it was kept as one already. Raises
        OSError."""
        for path in self._files(RECORDING):
            if not path.with_suffix(TAKE).exists():
                take = self._read(path)
                if take and len(take.samples) >= LEAST * take.rate:
                    self.keep_take(take.samples, take.rate, take.transcript, take.name, RecordingFile(path))
            path.unlink(missing_ok=True)
        for path in self._files(GONE):
            if path.stat().st_mtime < time.time() - IN_BIN:
                path.unlink(missing_ok=True)
                path.with_suffix(NOTES).unlink(missing_ok=True)
        for pair in older_files(self._own.folder):
            try:
                take = read_older(*pair)
            except Damaged as fault:
                self.complaints.append(put_aside(pair[0], fault))
                continue
            if take:
                self.keep_take(take.samples, take.rate, take.transcript, take.name)
            for path in pair:
                path.unlink(missing_ok=True)

    def drop_takes(self, takes: Iterable[UnsavedTake]) -> None:
        """They have become voices. Raises OSError."""
        for take in takes:
            if take.file:
                take.file.unlink(missing_ok=True)
                take.file.with_suffix(NOTES).unlink(missing_ok=True)

    def throw_away(self, takes: Iterable[UnsavedTake]) -> None:
        """The user let them go; `bring_back` has them for 30 days. Raises OSError."""
        for take in takes:
            if take.file and take.file.exists():
                os.utime(take.file)
                take.file.replace(take.file.with_suffix(GONE))

    def bring_back(self) -> UnsavedTake | None:
        """The take that was thrown away last, which is kept again; None without one. Raises OSError."""
        gone = max(self._files(GONE), key=lambda path: path.stat().st_mtime_ns, default=None)
        return self._read(gone.replace(gone.with_suffix(TAKE))) if gone else None

    def has_thrown_away(self) -> bool:
        return bool(self._files(GONE))

    def leave(self) -> None:
        """What is kept is for the next app now."""
        self._own.leave()

    def _read(self, path: Path) -> UnsavedTake | None:
        try:
            take = read_take(path)
        except Damaged as fault:
            self.complaints.append(put_aside(path, fault))
            return None
        notes = path.with_suffix(NOTES)
        try:
            return with_notes(take, notes) if take else None
        except Damaged as fault:
            self.complaints.append(put_aside(notes, fault))
            return take

    def _files(self, *endings: str) -> list[Path]:
        """Those with a number for a name, by number."""
        try:
            found = [path for path in self._own.folder.iterdir() if path.suffix in endings and _numbered(path)]
        except OSError:
            return []
        return sorted(found, key=lambda path: int(path.stem))

    def _free_number(self) -> int:
        taken = {int(path.stem) for path in self._files(TAKE, RECORDING, GONE, NOTES)}
        return max(taken, default=0) + 1


def _numbered(path: Path) -> bool:
    return path.stem.isascii() and path.stem.isdecimal() and len(path.stem) < 10


def _left_behind(folder: Path) -> tuple[bool, float]:
    """What an app finds there when it starts: whether there are takes, and when the text was written, 0 without one."""
    try:
        takes = any(path.suffix in (TAKE, RECORDING) or path.name in SAMPLES for path in folder.iterdir())
        return takes, os.stat(folder / TEXT).st_mtime
    except FileNotFoundError:
        return takes, 0.0
    except OSError:
        return False, 0.0
