"""Long texts in parts on the disk, each part written when it is there: what a crash leaves can be gone on with.

FOLDER/ID/            one text
    reading.json      what is to be said (reading.py)
    K.json            the takes of part K, and which of them is in the whole
    K-N.flac          its take N
    voice-S.s2voice   the voice that the part spoken first lends to speaker S, where the text was given none
FOLDER/.bin/ID/       one that was removed; it can be brought back for 30 days

Calls block on the disk: they are made from jobs.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s2mlx.errors import AudioError, S2Error
from s2mlx.files import locked, private_folder

from .broken import Damaged, put_aside
from .json_files import read_table, write_json
from .reading import PartSound, PartTake, Reading, part_sound_of, reading_of

if TYPE_CHECKING:
    import numpy as np

IN_BIN = 30 * 86400.0  # seconds that one which was removed can be brought back


class Readings:
    """`complaints`: a line for each damaged file met so far."""

    def __init__(self, folder: Path, write_audio: Callable, read_audio: Callable):
        self.folder = folder
        self.complaints: list[str] = []
        self._write_audio, self._read_audio = write_audio, read_audio

    def add(self, reading: Reading) -> Reading:
        """Keep a text, behind all others. Raises OSError."""
        reading = replace(reading, place=max((one.place for one in self.all()), default=0) + 1)
        self.change(reading)
        return reading

    def change(self, reading: Reading) -> None:
        """Keep what was changed about a text, whose parts stay. Raises OSError."""
        write_json(self.of(reading) / "reading.json", reading.as_table())

    def all(self) -> list[Reading]:
        """In the order of the queue."""
        try:
            found = [folder for folder in self.folder.iterdir() if not folder.name.startswith(".")]
        except OSError:
            return []
        read = (self._read(folder / "reading.json") for folder in found)
        return sorted((one for one in read if one), key=lambda one: (one.place, one.when))

    def made(self, reading: Reading) -> int:
        """How many of its parts there are: at once, whatever is in them."""
        try:
            names = {name for name in os.listdir(self.of(reading)) if name.endswith(".json")}
        except OSError:
            return 0
        return sum(f"{number}.json" in names for number in range(len(reading.parts)))

    def sounds(self, reading: Reading) -> dict[int, PartSound]:
        """What there is, by the number of the part. A part whose sound is gone is not there."""
        found = {}
        for number in range(len(reading.parts)):
            sound = self._sound(self.of(reading) / f"{number}.json")
            if sound and sound.take and (self.of(reading) / sound.take.sound).exists():
                found[number] = sound
        return found

    def keep(
        self, reading: Reading, number: int, samples: np.ndarray, seed: int, frames: int, reason: str
    ) -> PartSound:
        """One more take of a part, samples float32 [n], which is in the whole from now on; the others stay. The sound
        first, so that none lacks it. Raises OSError, AudioError, S2Error where it was removed."""
        folder = self.of(reading)
        with self._taking(reading):
            path = folder / f"{number}.json"
            known = self._sound(path)
            before = known.takes if known else ()
            names = (f"{number}-{one}.flac" for one in count(len(before) + 1))
            name = next(name for name in names if not (folder / name).exists())  # also where the table was damaged
            self._write_audio(folder / name, samples, reading.rate, private=True)
            take = PartTake(seed, len(samples) / reading.rate, frames, reason, name)
            sound = PartSound((*before, take), len(before))
            self._write(path, sound)
            return sound

    def choose(self, reading: Reading, number: int, sound: PartSound) -> None:
        """`sound.take` is in the whole from now on, whatever takes came meanwhile. Raises OSError, S2Error."""
        path = self.of(reading) / f"{number}.json"
        with self._taking(reading):
            known = self._sound(path)
            if known and sound.take in known.takes:
                self._write(path, replace(known, at=known.takes.index(sound.take)))

    def samples(self, reading: Reading, take: PartTake) -> np.ndarray:
        """float32 [n] at the reading's rate. Raises AudioError."""
        path = self.of(reading) / take.sound
        if not path.exists():
            raise AudioError("the sound of this part is gone: say it again")
        samples: np.ndarray = self._read_audio(path, reading.rate)
        return samples

    def whole(self, reading: Reading, sounds: dict[int, PartSound], first: int, end: int) -> Iterator[np.ndarray]:
        """The sound of parts [first, end) piece by piece, with the pauses between them."""
        return (samples for _, samples in self.pieces(reading, sounds, first, end))

    def pieces(
        self, reading: Reading, sounds: dict[int, PartSound], first: int, end: int
    ) -> Iterator[tuple[int | None, np.ndarray]]:
        """The same, each with the number of its part; None: a pause."""
        import numpy as np

        pause = np.zeros(reading.rate * reading.speech_options().pause_ms // 1000, np.float32)
        for number in range(first, end):
            if (sound := sounds.get(number)) and sound.take:
                yield number, self.samples(reading, sound.take)
                if reading.parts[number].pause_after and number + 1 < end:
                    yield None, pause

    def keep_voice(self, reading: Reading, voice: Any, speaker: int = 0) -> None:
        """The voice in which what follows is to be spoken. Raises OSError, VoiceError."""
        voice.save(self._voice(reading, speaker))

    def voice(self, reading: Reading, speaker: int = 0) -> Any:
        """None where none was kept, or a damaged one."""
        from s2mlx.voices import Voice

        path = self._voice(reading, speaker)
        try:
            return Voice.load(path) if path.exists() else None
        except (S2Error, OSError) as fault:
            self.complaints.append(put_aside(path, fault))
            return None

    def lock(self, reading: Reading) -> AbstractContextManager[None]:
        """Within, no other app makes parts of it. Raises TimeoutError."""
        return locked(self.of(reading) / ".lock", wait=0)

    def remove(self, reading: Reading) -> None:
        """Into the bin. Raises OSError."""
        private_folder(self._bin)
        os.utime(self.of(reading))
        target = self._bin / reading.id
        shutil.rmtree(target, ignore_errors=True)
        self.of(reading).rename(target)
        for old in self._bin.iterdir():
            if old.stat().st_mtime < time.time() - IN_BIN:
                shutil.rmtree(old, ignore_errors=True)

    def bring_back(self) -> str | None:
        """The id of the one that was removed last, which is back; None when the bin is empty. Raises OSError."""
        try:
            newest = max(self._bin.iterdir(), key=lambda folder: folder.stat().st_mtime_ns, default=None)
        except FileNotFoundError:
            return None
        if newest is None:
            return None
        newest.rename(self.folder / newest.name)
        return newest.name

    def of(self, reading: Reading) -> Path:
        """The folder of one."""
        return self.folder / reading.id

    @property
    def _bin(self) -> Path:
        return self.folder / ".bin"

    def _voice(self, reading: Reading, speaker: int) -> Path:
        return self.of(reading) / f"voice-{speaker}.s2voice"

    @contextmanager
    def _taking(self, reading: Reading) -> Iterator[None]:
        """Within, nobody else, in no other app, changes its takes."""
        gone = S2Error(f"“{reading.title}” was removed meanwhile")
        if not self.of(reading).exists():
            raise gone
        with locked(self.of(reading) / ".takes"):
            if not (self.of(reading) / "reading.json").exists():
                raise gone
            yield

    def _sound(self, path: Path) -> PartSound | None:
        try:
            stored = read_table(path)
            return None if stored is None else part_sound_of(stored)
        except Damaged as fault:
            self.complaints.append(put_aside(path, fault))
            return None

    def _write(self, path: Path, sound: PartSound) -> None:
        takes = [take.__dict__ for take in sound.takes]
        write_json(path, {"takes": takes, "at": sound.at})

    def _read(self, path: Path) -> Reading | None:
        try:
            stored = read_table(path)
            return None if stored is None else reading_of(stored, path.parent.name)
        except Damaged as fault:
            self.complaints.append(put_aside(path, fault))
            return None
