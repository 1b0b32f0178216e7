"""Files that spare work: results that could be made again, found by a key, checked whole, the oldest dropped first.

An entry, little-endian: "S2MLXKEP", u32 length of the header, the header (JSON: {key, about, body: bytes of it}), zeros
to a multiple of 4096, the body, and SHA-256 of all that. A file with one other byte is no entry.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .atomic import Draft
from .folders import cache_dir
from .private import private_folder
from .regular import open_regular

SUFFIX = ".kept"
_MAGIC = b"S2MLXKEP"
_HEAD = struct.Struct("<8sI")
_ALIGN, _DIGEST = 4096, 32
_LONGEST_HEADER = 1 << 20
MOST_PREFIXES = 1 << 30  # bytes of prefilled voices


def kept_prefixes() -> KeptFiles:
    """Prefilled voices. Raises `S2Error` for a user without a home."""
    return KeptFiles(cache_dir() / "prefixes", MOST_PREFIXES)


@dataclass(frozen=True)
class KeptEntry:
    """A file of the folder, as its header has it: nothing in it is checked."""

    path: Path
    bytes: int
    used: float  # seconds since 1970
    about: dict[str, Any]


class KeptFiles:
    """A folder of entries, `most` bytes in all. Several processes may use it at once.

    Nothing here raises for a file: what cannot be read is not there, and what cannot be written is not kept."""

    def __init__(self, folder: Path, most: int):
        self.folder, self.most = folder, most

    def read(self, key: str) -> tuple[dict[str, Any], np.ndarray] | None:
        """(about, body uint8 [n], mapped memory) of an entry that is whole; a file that is not is removed."""
        path = self._path(key)
        try:
            with open_regular(path) as file:
                if not os.fstat(file.fileno()).st_size:
                    return None
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return None
        found = _checked(mapped, key)
        with contextlib.suppress(OSError):
            if found is None:
                path.unlink()
            else:
                os.utime(path)  # the last use decides what goes first
        return found

    def write(self, key: str, about: dict[str, Any], body: Sequence[np.ndarray]) -> bool:
        """Keep an entry, its body the bytes of arrays one after the other; whether it is there now. What is older goes
        if there is too much."""
        size = sum(part.nbytes for part in body)
        header = json.dumps({"key": key, "about": about, "body": size}).encode()
        head = _HEAD.pack(_MAGIC, len(header)) + header
        head += bytes(-len(head) % _ALIGN)
        whole = len(head) + size + _DIGEST
        if whole > self.most or len(header) > _LONGEST_HEADER:
            return False
        digest = hashlib.sha256(head)
        try:
            private_folder(self.folder)
            self._make_room(whole, self._path(key))
            with Draft(self._path(key), private=True) as draft:
                draft.file.write(head)
                for part in body:
                    data = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
                    digest.update(data)
                    draft.file.write(data)
                draft.file.write(digest.digest())
        except OSError:
            return False
        return True

    def entries(self) -> list[KeptEntry]:
        """All that look like some, the one used last first."""
        return sorted(self._entries(), key=lambda entry: -entry.used)

    def clear(self) -> list[KeptEntry]:
        """Remove all; those that went. Raises OSError where one cannot be removed."""
        gone = self.entries()
        for entry in gone:
            entry.path.unlink(missing_ok=True)
        return gone

    def _entries(self) -> Iterator[KeptEntry]:
        try:
            paths = [path for path in self.folder.iterdir() if path.suffix == SUFFIX]
        except OSError:  # no such folder
            return
        for path in paths:
            try:
                status = path.stat()
                about = _about(path)
            except OSError:  # another process was faster
                continue
            yield KeptEntry(path, status.st_size, status.st_mtime, about)

    def _make_room(self, size: int, replaced: Path) -> None:
        kept = [entry for entry in self.entries() if entry.path != replaced]
        while kept and sum(entry.bytes for entry in kept) + size > self.most:
            kept.pop().path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / (key + SUFFIX)


def _checked(mapped: mmap.mmap, key: str) -> tuple[dict[str, Any], np.ndarray] | None:
    whole = memoryview(mapped)
    header = _header(whole[: _HEAD.size + _LONGEST_HEADER])
    if header is None or header.get("key") != key or not isinstance(header.get("about"), dict):
        return None
    if hashlib.sha256(whole[:-_DIGEST]).digest() != whole[-_DIGEST:]:
        return None
    size = header["body"]
    return header["about"], np.frombuffer(mapped, np.uint8, size, len(whole) - _DIGEST - size)


def _header(data: memoryview) -> dict[str, Any] | None:
    if len(data) < _HEAD.size:
        return None
    magic, length = _HEAD.unpack_from(data)
    if magic != _MAGIC or length > len(data) - _HEAD.size:
        return None
    try:
        header = json.loads(bytes(data[_HEAD.size : _HEAD.size + length]))
    except ValueError:
        return None
    return header if isinstance(header, dict) else None


def _about(path: Path) -> dict[str, Any]:
    with open_regular(path) as file:
        header = _header(memoryview(file.read(_HEAD.size + _LONGEST_HEADER)))
    about = header and header.get("about")
    return about if isinstance(about, dict) else {}
