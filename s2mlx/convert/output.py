"""A result that appears whole or not at all: made under a temporary name beside its place, then put there.

Knows files and folders, not models.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from ..errors import S2Error, UsageError, reason
from ..files.amounts import size
from ..files.atomic import NO_ROOM, Draft
from ..files.leftovers import sweep, temporary_beside
from .place import add_folder, replace_folder

_UNNOTICED = {".DS_Store"}  # what macOS leaves in any folder that was looked at
_SPARE = 16 << 20  # bytes that stay free on the disk


class Output:
    """The place `path` for a file, or for a folder of known files.

    with Output(path, ...) as output: write to the file `output.file`, or into the folder `output.folder`; then
    `output.commit()`. Without a commit nothing is left of it. source: what must not be replaced. files: patterns of the
    names that a folder that is replaced may hold; None makes a file. beside: small files that go into the folder of
    `path`, name -> bytes; they replace nothing. force: replace what is there.
    """

    def __init__(self, path, *, source, files: Iterable[str] | None = None, force: bool = False, beside=None):
        self.given, self.path, self.source = path, Path(os.path.realpath(path)), Path(source)
        self.files, self.force = None if files is None else frozenset(files), force
        self.beside = {self.path.parent / name: data for name, data in (beside or {}).items()}
        self._check()

    def _check(self) -> None:
        """Everything that can be known before the work is done; and again after it, when all may be different."""
        self._check_source()
        parent = self.path.parent
        if not parent.is_dir():
            raise S2Error(f"cannot write {self.given}: there is no folder {parent}")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise S2Error(f"cannot write {self.given}: no permission to write in {parent}")
        if self.files is None and self.path.is_dir():
            raise UsageError(f"cannot write {self.given}: it is a folder")
        if self.files is not None and self.path.exists():
            self._check_folder()
        elif self.path.exists() and not self.path.is_file():
            raise UsageError(f"cannot write {self.given}: it is no ordinary file")
        elif self.path.exists() and not self.force:
            raise self._exists()
        for path, data in self.beside.items():
            if os.path.lexists(path) and not _holds(path, data):
                raise S2Error(
                    f"{path} is another one than this model needs, and models beside it may need it: it is "
                    "never replaced; choose another folder, or move it away first"
                )

    def _check_source(self) -> None:
        """Names can differ and mean the same: links, disks that do not tell cases apart."""
        if _same(self.path, self.source) or self.files is None and self._is_part_of_source():
            raise UsageError(f"{self.given} is the source itself; choose another name")
        if self.files is not None and _within(self.path, self.source):
            raise UsageError(f"{self.given} lies in the source; choose a place outside of it")
        if self.files is not None and _within(self.source, self.path):
            raise UsageError(f"{self.given} holds the source; choose another name")

    def _is_part_of_source(self) -> bool:
        """Whether it is a file of a folder; GGUF files there are not what is converted."""
        return self.source.is_dir() and any(
            _same(self.path, part) for part in self.source.iterdir() if part.suffix.lower() != ".gguf"
        )

    def _check_folder(self) -> None:
        if not self.path.is_dir():
            raise UsageError(f"cannot write {self.given}: it is a file; a name that ends in .gguf makes a file")
        there = [entry for entry in os.scandir(self.path) if entry.name not in _UNNOTICED]
        if there and not self.force:
            raise self._exists()
        foreign = sorted(entry.name for entry in there if entry.is_dir() or not self._is_known(entry.name))
        if foreign:
            raise S2Error(
                f"{self.given} holds {foreign[0]}, which no converted model has: it is not replaced; "
                "choose another folder, or move that away"
            )

    def _is_known(self, name: str) -> bool:
        return name in _UNNOTICED or any(fnmatchcase(name, pattern) for pattern in self.files or ())

    def _exists(self) -> S2Error:
        return S2Error(f"{self.given} exists; --force replaces it")

    def check_space(self, needed: int) -> None:
        """`S2Error` unless the disk has room for so many bytes."""
        free = shutil.disk_usage(self.path.parent).free
        if needed + _SPARE > free:
            raise S2Error(
                f"{self.path} would take {size(needed)}, and {size(free)} are free in "
                f"{self.path.parent}; make room or choose another disk"
            )

    def __enter__(self):
        if self.files is None:
            self._draft = Draft(self.path, replace=self.force)
            self.file = self._draft.file
        else:
            self.folder = temporary_beside(self.path)
            self.folder.mkdir()
            sweep(self.path.parent)
        return self

    def sync(self) -> None:
        """Have a file on the disk, not only on its way: before `commit`, since it takes long."""
        self._draft.sync()

    def commit(self) -> None:
        """Put it in place, the files beside it first. Short; who must not be interrupted here sees to it.

        `S2Error` where something has come into the way since the beginning: nothing is replaced then.
        """
        self._check()
        for path, data in self.beside.items():
            _add_beside(path, data)
        try:
            if self.files is None:
                self._draft.commit()
            elif self.force and self.path.exists():
                replace_folder(self.folder, self.path, self._is_known)
            else:
                add_folder(self.folder, self.path, _UNNOTICED)
        except FileExistsError:
            raise self._exists() from None

    def __exit__(self, kind, value, traceback):
        if self.files is None:
            self._draft.discard()
        elif self.folder.is_dir():
            shutil.rmtree(self.folder)
        if isinstance(value, OSError) and value.errno in NO_ROOM:
            raise S2Error(f"cannot write {self.given}: {reason(value)}; nothing was kept") from value


def _add_beside(path: Path, data: bytes) -> None:
    """The small file, unless it is there already."""
    if _holds(path, data):
        return
    try:
        with Draft(path, replace=False) as draft:
            draft.file.write(data)
    except FileExistsError:
        if not _holds(path, data):  # or another conversion has just made the same one
            raise S2Error(f"{path} has just been made by another program; choose another folder") from None


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _same(a: Path, b: Path) -> bool:
    return a.exists() and b.exists() and os.path.samefile(a, b)


def _within(inner: Path, outer: Path) -> bool:
    """Whether `inner` is `outer` or lies in it, by its own name or by what that is a link to."""
    places = (Path(os.path.abspath(inner)), Path(os.path.realpath(inner)))
    return any(_same(part, outer) for place in places for part in (place, *place.parents))


def synced(file) -> None:
    """On the disk, not only on its way."""
    file.flush()
    os.fsync(file.fileno())
