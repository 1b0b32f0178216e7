"""Every utterance made: what was said, by whom, how, and the sound itself. A folder of one JSON and one FLAC each.

Calls block on the disk: they are made from jobs.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s2mlx.errors import AudioError, S2Error
from s2mlx.files import private_folder
from s2mlx.options import Options
from s2mlx.text import clean_text

from .broken import Damaged, put_aside
from .json_files import read_table, write_json
from .take_file import HIGHEST_RATE

if TYPE_CHECKING:
    import numpy as np

KEEP = 200  # utterances; the oldest go first
IN_BIN = 30 * 86400.0  # seconds that one which was removed can be brought back
_LARGEST = 1 << 53  # of a count or a number of seconds


@dataclass(frozen=True)
class HistoryEntry:
    """One finished or stopped request. `options` holds what differs from the defaults, the seed apart."""

    text: str
    voices: tuple[str, ...] = ()
    seed: int = 0
    options: dict = field(default_factory=dict)
    model: str | None = None  # as the settings name it; None: the default model
    model_name: str = ""
    compat: str | None = None
    tokenizer: str | None = None
    when: str = ""  # local time, ISO
    seconds: float = 0.0
    frames: int = 0
    rtf: float | None = None
    first_audio: float | None = None
    finish_reason: str = "stop"
    voice_ids: tuple[str, ...] = ()  # what the voices keep under any name; an empty one is not known
    starred: bool = False  # the best of its versions; it is never the oldest that goes
    number: int = 0  # of the utterances in their folder, counted on: clocks may be set back
    id: str = field(default_factory=lambda: os.urandom(6).hex())

    def speech_options(self) -> Options:
        """The options that make this utterance again, its seed included."""
        return Options(**self.options).replace(seed=self.seed)

    def command(self) -> str:
        """The `s2mlx say` line that makes this utterance again."""
        words = ["s2mlx", "say"]
        for flag, value in (("--model", self.model), ("--tokenizer", self.tokenizer), ("--compat", self.compat)):
            if value:
                words += [flag, value]
        for voice in self.voices:
            words += ["--voice", voice]
        for name, value in self.options.items():
            flag = "--" + name.replace("_", "-")
            words += [flag] if value is True else [flag, str(value)]
        words += ["--seed", str(self.seed), "--", self.text]
        return shlex.join(words)


def distinct_options(options: Options) -> dict:
    """The options that differ from the defaults, the seed apart."""
    plain = Options()
    return {
        f.name: getattr(options, f.name)
        for f in dataclasses.fields(Options)
        if f.name != "seed" and getattr(options, f.name) != getattr(plain, f.name)
    }


class History:
    """The utterances of a folder, newest first. `complaints`: a line for each damaged file met so far."""

    def __init__(
        self,
        folder: Path,
        write_audio: Callable,
        read_audio: Callable,
        keep: int = KEEP,
        identities: Callable[[], dict[str, str]] = dict,
    ):
        """`identities()`: what each voice that there is keeps under any name, by the name it has now."""
        self.folder, self.keep, self._identities = folder, keep, identities
        self.complaints: list[str] = []
        self._write_audio, self._read_audio = write_audio, read_audio

    def add(self, entry: HistoryEntry, samples: np.ndarray, rate: int) -> HistoryEntry:
        """Keep an utterance, as its entry is then; the sound first, so that none lacks it.

        Raises OSError, AudioError.
        """
        before = self.entries()
        ids, number = self._identities(), max((old.number for old in before), default=0) + 1
        entry = dataclasses.replace(entry, number=number, voice_ids=tuple(ids.get(name, "") for name in entry.voices))
        private_folder(self.folder)
        self._write_audio(self._sound(entry), samples, rate, private=True)
        write_json(self.folder / f"{entry.id}.json", dataclasses.asdict(entry) | {"rate": rate})
        for old in [old for old in before if not old.starred][max(0, self.keep - 1) :]:
            for path in self._files(old.id, self.folder):
                path.unlink(missing_ok=True)
        return entry

    def star(self, entry: HistoryEntry, starred: bool) -> None:
        """Raises OSError."""
        path = self.folder / f"{entry.id}.json"
        with suppress(Damaged):
            if stored := read_table(path):
                write_json(path, stored | {"starred": starred})

    def entries(self) -> list[HistoryEntry]:
        """With the names that the voices have now, whatever program has renamed them."""
        read = (self._read(path) for path in self.folder.glob("*.json"))
        found = [entry for entry in read if entry is not None]
        if any(any(entry.voice_ids) for entry in found):
            ids = self._identities()
            found = [dataclasses.replace(entry, voices=tuple(_names_now(entry, ids))) for entry in found]
        return sorted(found, key=lambda entry: (entry.number, entry.when), reverse=True)

    def sound(self, entry: HistoryEntry) -> tuple[np.ndarray, int]:
        """samples float32 [n], rate. Raises AudioError when the sound is gone."""
        path = self._sound(entry)
        if not path.exists():
            raise AudioError("the sound of this utterance is gone; speak it again with the same seed")
        try:
            rate = (read_table(self.folder / f"{entry.id}.json") or {}).get("rate")
        except Damaged:
            rate = None
        if not isinstance(rate, int) or not 0 < rate <= HIGHEST_RATE:
            rate = 44100
        return self._read_audio(path, rate), rate

    def remove(self, *entries: HistoryEntry) -> None:
        """Into the bin, where an utterance stays for `IN_BIN` seconds. Raises OSError."""
        private_folder(self._bin)
        now = time.time_ns()
        for path in (path for entry in entries for path in self._files(entry.id, self.folder)):
            if path.exists():
                os.utime(path, ns=(now, now))
                path.replace(self._bin / path.name)
        for path in self._bin.iterdir():
            if path.stat().st_mtime < time.time() - IN_BIN:
                path.unlink(missing_ok=True)

    def empty_bin(self) -> None:
        """For good. Raises OSError."""
        for path in list(self._bin.glob("*")):
            path.unlink(missing_ok=True)

    def bytes_used(self) -> tuple[int, int]:
        """On the disk, by what is listed and by what is in the bin."""
        listed, binned = (sum(_size(path) for path in folder.glob("*.*")) for folder in (self.folder, self._bin))
        return listed, binned

    def removed(self) -> bool:
        """Whether there is something to bring back."""
        return any(self._bin.glob("*.json"))

    def bring_back(self) -> str | None:
        """The id of the utterance that was removed last, which is back, with all that were removed together with it;
        None when the bin is empty. Raises OSError."""
        when = {path: path.stat().st_mtime_ns for path in self._bin.glob("*.json")}
        newest = max(when, key=when.__getitem__, default=None)
        if newest is None:
            return None
        for found in (path for path, at in when.items() if at == when[newest]):
            for path in reversed(self._files(found.stem, self._bin)):
                if path.exists():
                    path.replace(self.folder / path.name)
        return newest.stem

    def rename_voice(self, old: str, new: str) -> None:
        """What a voice has spoken stays its own under another name. Raises OSError."""
        for entry in self.entries():
            if old in entry.voices:
                path = self.folder / f"{entry.id}.json"
                with suppress(Damaged):
                    voices = [new if voice == old else voice for voice in entry.voices]
                    write_json(path, (read_table(path) or {}) | {"voices": voices})

    @property
    def _bin(self) -> Path:
        return self.folder / ".bin"

    def _files(self, id: str, folder: Path) -> list[Path]:
        """What makes it an entry comes first."""
        return [folder / f"{id}.json", folder / f"{id}.flac"]

    def path(self, entry: HistoryEntry) -> Path:
        """The file of its sound."""
        return self._sound(entry)

    def _sound(self, entry: HistoryEntry) -> Path:
        return self.folder / f"{entry.id}.flac"

    def _read(self, path: Path) -> HistoryEntry | None:
        """The utterance of a file; None when it is gone, or damaged and put aside."""
        try:
            stored = read_table(path)
            return None if stored is None else _entry(stored, path.stem)
        except Damaged as fault:
            self.complaints.append(put_aside(path, fault))
            return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _names_now(entry: HistoryEntry, ids: dict[str, str]) -> Iterator[str]:
    """The names of an utterance's voices; one that is no more keeps the name it had."""
    called = {id: name for name, id in ids.items()}
    for name, id in itertools.zip_longest(entry.voices, entry.voice_ids[: len(entry.voices)], fillvalue=""):
        yield name if not id or ids.get(name) == id else called.get(id, name)


def _entry(stored: dict[str, Any], id: str) -> HistoryEntry:
    """Raises Damaged."""
    if "text" not in stored:
        raise Damaged("it holds no text")
    at = ""
    try:
        fields = {}
        for at, read in _FIELDS.items():
            if at in stored:
                fields[at] = read(stored[at])
        entry = HistoryEntry(**fields, id=id)
        at = "options"
        entry.speech_options()
    except (TypeError, ValueError, OverflowError, S2Error):
        raise Damaged(f"{at} is not what it should be") from None
    return entry


def _a(kind: type | tuple[type, ...]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError
        return value

    return read


def _number(value: Any) -> float:
    number = float(_a((int, float))(value))
    if not 0 <= number <= _LARGEST:
        raise ValueError
    return number


def _count(value: Any) -> int:
    number = _a(int)(value)
    if not 0 <= number <= _LARGEST:
        raise ValueError
    return number


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


_FIELDS = {
    "text": lambda value: clean_text(_a(str)(value)),
    "voices": lambda value: tuple(map(_a(str), _a(list)(value))),
    "seed": _a(int),
    "options": _a(dict),
    "model": _or_none(_a(str)),
    "model_name": _a(str),
    "compat": _or_none(_a(str)),
    "tokenizer": _or_none(_a(str)),
    "when": _a(str),
    "seconds": _number,
    "frames": _count,
    "rtf": _or_none(_number),
    "first_audio": _or_none(_number),
    "finish_reason": _a(str),
    "voice_ids": lambda value: tuple(map(_a(str), _a(list)(value))),
    "starred": lambda value: value is True,
    "number": _count,
}
