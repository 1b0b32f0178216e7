"""A result that appears whole or not at all: made under a temporary name beside its place, then put there.

Knows files and folders, not models.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from ..errors import S2Error, UsageError
from ..whole import write_bytes

_UNNOTICED = {".DS_Store"}  # what macOS leaves in any folder that was looked at
_SPARE = 16 << 20  # bytes that stay free on the disk


class Output:
    """The place `path` for a file, or for a folder of known files.

    with Output(path, ...) as output: write to `output.temporary`, then `output.commit()`. Without a commit nothing is
    left of it. source: what must not be replaced. files: the names a folder that is replaced may hold; None makes
    a file. beside: small files that go into the folder of `path`, name -> bytes. force: replace what is there.
    """

    def __init__(self, path, *, source, files: Iterable[str] | None = None, force: bool = False, beside=None):
        self.path, self.files = Path(os.path.realpath(path)), None if files is None else frozenset(files)
        if self.path == Path(os.path.realpath(source)):
            raise UsageError(f"{path} is the source itself; choose another name")
        beside = {self.path.parent / name: data for name, data in (beside or {}).items()}
        self.beside = {path: data for path, data in beside.items() if not _holds(path, data)}
        self._check(path, force)
        self.temporary = self.path.with_name(f".{self.path.name[:40]}.{secrets.token_hex(4)}")

    def _check(self, given, force) -> None:
        """Everything that can be known before the work is done."""
        parent = self.path.parent
        if not parent.is_dir():
            raise S2Error(f"cannot write {given}: there is no folder {parent}")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise S2Error(f"cannot write {given}: no permission to write in {parent}")
        if self.files is None and self.path.is_dir():
            raise UsageError(f"cannot write {given}: it is a folder")
        if self.files is not None and self.path.exists():
            self._check_folder(given, force)
        elif self.path.exists() and not self.path.is_file():
            raise UsageError(f"cannot write {given}: it is no ordinary file")
        elif self.path.exists() and not force:
            raise S2Error(f"{given} exists; --force replaces it")
        for path in self.beside:
            if path.exists() and not force:
                raise S2Error(f"{path} exists and is another one; choose another folder, or replace it with --force")

    def _check_folder(self, given, force) -> None:
        if not self.path.is_dir():
            raise UsageError(f"cannot write {given}: it is a file; a name that ends in .gguf makes a file")
        there = set(os.listdir(self.path)) - _UNNOTICED
        if there and not force:
            raise S2Error(f"{given} exists; --force replaces it")
        if foreign := sorted(there - self.files):
            raise S2Error(f"{given} holds {foreign[0]}, which no converted model has: it is not replaced; "
                          "choose another folder")

    def check_space(self, needed: int) -> None:
        """`S2Error` unless the disk has room for so many bytes."""
        free = shutil.disk_usage(self.path.parent).free
        if needed + _SPARE > free:
            raise S2Error(f"{self.path} would take {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free in "
                          f"{self.path.parent}; make room or choose another disk")

    def __enter__(self):
        if self.files is not None:
            self.temporary.mkdir()
        return self

    def commit(self) -> None:
        """Put it in place. Short; who must not be interrupted here sees to it."""
        for path, data in self.beside.items():
            write_bytes(path, data)
        if self.files is not None and self.path.exists():
            old = self.temporary.with_name(self.temporary.name + ".old")
            os.rename(self.path, old)
            try:
                os.rename(self.temporary, self.path)
            except BaseException:
                os.rename(old, self.path)
                raise
            shutil.rmtree(old)
        else:
            os.replace(self.temporary, self.path)

    def __exit__(self, *_):
        if self.temporary.is_dir():
            shutil.rmtree(self.temporary)
        else:
            self.temporary.unlink(missing_ok=True)


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def synced(file) -> None:
    """On the disk, not only on its way."""
    file.flush()
    os.fsync(file.fileno())
