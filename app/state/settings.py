"""What the user has chosen, kept in the config folder.

Every field is checked on the way in, so a damaged file costs the bad fields only.
"""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from s2mlx.errors import UsageError
from s2mlx.files import locked
from s2mlx.options import KNOBS, Options

from ..tags import SPEAKERS
from ..themes import names
from .broken import Damaged, copy_aside, put_aside
from .json_files import LARGEST, read_bytes, read_table, write_json

LOCK = ".lock"  # appended to the name of the file
_LONGEST_REASON = 200  # characters: a value of any length may be part of it


@dataclass(frozen=True)
class Settings(Options):
    """The options of a request and what the app adds. None means: whatever the command would take by default."""

    model: str | None = None
    tokenizer: str | None = None
    compat: str | None = None  # None | "s2cpp"
    memory_limit_gb: float | None = None
    output: str | None = None  # device names
    input: str | None = None
    prebuffer: float | None = None  # seconds heard late on purpose; None: sized from the measured speed
    theme: str = "s2-dark"
    language: str = "en"  # of the sentences to read
    cast: tuple[str | None, ...] = ()  # voices of speaker 0, 1, ...
    languages: dict[str, str] = field(default_factory=dict)  # of the voices, by name

    def __post_init__(self) -> None:
        super().__post_init__()
        _need(self.theme in names(), f"theme must be one of {', '.join(names())}")
        _need(self.compat in (None, "s2cpp"), "compat must be empty or s2cpp")
        _need(self.memory_limit_gb is None or 0 < self.memory_limit_gb <= 4096, "memory limit must be above 0 GB")
        _need(self.prebuffer is None or 0 <= self.prebuffer <= 60, "prebuffer must be between 0 and 60 seconds")
        _need(len(self.cast) <= SPEAKERS, f"at most {SPEAKERS} speakers can be bound")

    def options(self) -> Options:
        """The options of a request alone."""
        return Options(**{f.name: getattr(self, f.name) for f in dataclasses.fields(Options)})


def _need(ok: bool, message: str) -> None:
    if not ok:
        raise UsageError(message)


def load(path: Path) -> tuple[Settings, list[str]]:
    """Settings of the file, and a line for each entry that could not be used. What could not is put aside."""
    try:
        stored = read_table(path)
    except Damaged as fault:
        return Settings(), [put_aside(path, fault)]
    settings, complaints, bad = Settings(), [], []
    known = {f.name for f in dataclasses.fields(Settings)}
    for name, value in (stored or {}).items():
        if name not in known:
            continue
        try:
            settings = settings.replace(**{name: _typed(name, value)})
        except (UsageError, TypeError, ValueError, OverflowError) as error:
            bad.append(name)
            complaints.append(f"settings: {name} is left aside ({_short(error)})")
    if bad:
        complaints.append(_take_out(path, bad))
    return settings, complaints


def _take_out(path: Path, names: list[str]) -> str:
    """Copy the file aside, and take these entries out of it. What to tell of it."""
    try:
        with locked(path.with_name(path.name + LOCK), wait=1.0):
            aside = copy_aside(path, read_bytes(path, LARGEST) or b"")
            write_json(path, {name: value for name, value in (read_table(path) or {}).items() if name not in names})
    except (OSError, Damaged) as fault:
        return f"{path} cannot be written anew: {fault}"
    return f"{path} as it was is kept as {aside}"


def _short(error: BaseException) -> str:
    return str(error)[:_LONGEST_REASON]


def update(path: Path, before: Settings, after: Settings) -> None:
    """Write what has changed into the file. The rest stays as it is there: another app may have written it, or a newer
    one; a file that cannot be read is put aside. Raises OSError."""
    changes = {
        f.name: getattr(after, f.name)
        for f in dataclasses.fields(Settings)
        if getattr(after, f.name) != getattr(before, f.name)
    }
    if not changes:
        return
    with locked(path.with_name(path.name + LOCK)):
        try:
            stored = read_table(path) or {}
        except Damaged as fault:
            put_aside(path, fault)
            stored = {}
        if "languages" in changes:
            changes["languages"] = _merged(stored.get("languages"), before.languages, after.languages)
        write_json(path, stored | changes)


def _merged(stored: Any, before: dict, after: dict) -> dict:
    """The table as stored, with what has changed in it from `before` to `after`."""
    others = {k: v for k, v in stored.items() if k in after or k not in before} if isinstance(stored, dict) else {}
    return others | {k: v for k, v in after.items() if before.get(k) != v}


class SettingsFile:
    """The settings in force and the file that keeps them. `overrides` are for this run only."""

    def __init__(self, path: Path, **overrides: Any):
        self._path = path
        self._kept, self.complaints = load(path)
        self._written = self._kept  # what the file was told last
        self._writing = threading.Lock()
        self.now = self._kept.replace(**overrides)

    def change(self, **changes: Any) -> None:
        """In force at once; kept by the next `save`."""
        self.now, self._kept = self.now.replace(**changes), self._kept.replace(**changes)

    def save(self) -> None:
        """On a job's thread. Jobs may overtake each other: whichever writes, writes what holds now. Raises OSError."""
        with self._writing:
            kept = self._kept
            update(self._path, self._written, kept)
            self._written = kept


_FLOATS = {"memory_limit_gb", "prebuffer"}


def _typed(name: str, value: Any) -> Any:
    if name == "cast":
        _need(isinstance(value, list) and all(v is None or isinstance(v, str) for v in value), "not a list of names")
        return tuple(value)
    if name == "languages":
        _need(isinstance(value, dict) and all(isinstance(v, str) for v in value.values()), "not a table of names")
        return value
    if value is None:
        return getattr(Settings(), name)
    if name in KNOBS:
        return KNOBS[name].check(value)
    if name in _FLOATS:
        _need(isinstance(value, (int, float)) and not isinstance(value, bool), "not a number")
        return float(value)
    _need(isinstance(value, str), "not a text")
    return value


def parse(name: str, text: str) -> Any:
    """The value of a field as typed into a form; empty means the default. Raises UsageError."""
    text = text.strip()
    if name in KNOBS:
        return KNOBS[name].parse(text)
    if not text:
        return getattr(Settings(), name)
    if name not in _FLOATS:
        return text
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number") from None
