"""Which voice had which name when it was seen last, so that what is kept by name goes with a voice that was renamed, by
whatever program: {"anna": "0f3a..."} in a file of the state folder."""

from __future__ import annotations

import threading
from pathlib import Path

from s2mlx.files import locked

from .broken import Damaged, put_aside
from .json_files import read_table, write_json
from .settings import LOCK


class KnownVoices:
    """`complaints`: a line when the file could not be used."""

    def __init__(self, path: Path):
        self._path = path
        self._writing = threading.Lock()
        self.complaints: list[str] = []
        self._ids = self._stored()

    def see(self, ids: dict[str, str]) -> dict[str, str]:
        """The voices that there are, name by name with what each keeps under any name. Returns the new name of each
        that had another one. One that is gone is remembered: it may come back under another name."""
        called = {id: name for name, id in ids.items()}
        renamed = {
            name: called[id]
            for name, id in self._ids.items()
            if id in called and called[id] != name and ids.get(name) != id and self._ids.get(called[id]) != id
        }
        self._ids = {name: id for name, id in self._ids.items() if name not in renamed} | ids
        return renamed

    def save(self) -> None:
        """What is known here, beside what another app knows. On a job's thread. Raises OSError."""
        with self._writing, locked(self._path.with_name(self._path.name + LOCK)):
            here = self._ids
            stored = {name: id for name, id in self._stored().items() if id not in here.values()}
            if stored | here != self._stored():
                write_json(self._path, stored | here)

    def _stored(self) -> dict[str, str]:
        try:
            table = read_table(self._path) or {}
        except Damaged as fault:
            self.complaints.append(put_aside(self._path, fault))
            return {}
        return {name: id for name, id in table.items() if isinstance(id, str)}
