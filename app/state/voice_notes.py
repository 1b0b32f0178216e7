"""What the user has noted of each voice, and how it speaks where nothing else is said: in voices.json of the config
folder, by name.

{"anna": {"notes": "close, warm", "temperature": 0.7, "seed": 3, "rate": 1.1, "pause_ms": 400}}
"""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s2mlx.errors import UsageError
from s2mlx.files import locked
from s2mlx.options import KNOBS, Options
from s2mlx.text import clean_text

from .broken import Damaged, put_aside
from .json_files import read_table, write_json
from .settings import LOCK

KNOBS_OF_A_VOICE = ("temperature", "seed", "rate", "pause_ms")


@dataclass(frozen=True)
class VoiceNote:
    """None: as the settings have it. Raises UsageError for what no knob takes."""

    notes: str = ""
    temperature: float | None = None
    seed: int | None = None
    rate: float | None = None
    pause_ms: int | None = None

    def __post_init__(self) -> None:
        for name in KNOBS_OF_A_VOICE:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, KNOBS[name].check(value))

    def applied(self, options: Options) -> Options:
        """The options with what this voice has of its own."""
        own = {name: getattr(self, name) for name in KNOBS_OF_A_VOICE if getattr(self, name) is not None}
        return options.replace(**own) if own else options


class VoiceNotes:
    """`complaints`: a line for each entry or file that could not be used."""

    def __init__(self, path: Path):
        self._path = path
        self._writing = threading.Lock()
        self.complaints: list[str] = []
        self._notes = self._read()
        self._written = dict(self._notes)

    def of(self, name: str) -> VoiceNote:
        return self._notes.get(name, VoiceNote())

    def change(self, name: str, note: VoiceNote) -> None:
        """In force at once; kept by the next `save`."""
        self._notes = self._notes | {name: note}

    def renamed(self, names: dict[str, str]) -> None:
        """What voices are called now, by the names they had: their notes go with them. Kept by the next `save`."""
        moved = {new: self._notes[old] for old, new in names.items() if old in self._notes}
        self._notes = {name: note for name, note in self._notes.items() if name not in names} | moved

    def save(self) -> None:
        """Write what has changed; what another app wrote stays. On a job's thread. Raises OSError."""
        with self._writing:
            now = self._notes
            with locked(self._path.with_name(self._path.name + LOCK)):
                stored = self._stored()
                for name in self._written.keys() - now.keys():
                    stored.pop(name, None)
                for name, note in now.items():
                    if self._written.get(name) != note:
                        stored[name] = _as_table(note)
                write_json(self._path, {name: table for name, table in stored.items() if table})
            self._written = now

    def _stored(self) -> dict[str, Any]:
        try:
            return read_table(self._path) or {}
        except Damaged as fault:
            self.complaints.append(put_aside(self._path, fault))
            return {}

    def _read(self) -> dict[str, VoiceNote]:
        found = {}
        for name, table in self._stored().items():
            try:
                found[name] = _note(table)
            except (UsageError, TypeError, ValueError, OverflowError) as fault:
                self.complaints.append(f"voices.json: {name} is left aside ({str(fault)[:200]})")
        return found


def _note(table: Any) -> VoiceNote:
    if not isinstance(table, dict) or not isinstance(table.get("notes", ""), str):
        raise UsageError("it is no table of notes")
    known = {field.name for field in dataclasses.fields(VoiceNote)}
    values = {name: value for name, value in table.items() if name in known}
    return VoiceNote(**values | {"notes": clean_text(values.get("notes", ""))})


def _as_table(note: VoiceNote) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(note).items() if value not in (None, "")}
