"""Unfinished files and folders under temporary names, and the sweeping of those that a killed run has left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

_OLD = 86400.0  # s without a change
_NAME = re.compile(r"\..*\.[0-9a-f]{8}\.s2mlx", re.DOTALL)  # nobody else names files so


def temporary_beside(path: Path) -> Path:
    """A hidden name beside `path` that nobody else has."""
    return path.with_name(f".{path.name[:40]}.{os.urandom(4).hex()}.s2mlx")


def hold(file: int) -> None:
    """Keep an open file from being swept while this process lives, however long it sleeps."""
    with contextlib.suppress(OSError):  # some network file systems have no locks
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sweep(folder: Path) -> None:
    """Delete what runs that were killed have left unfinished in a folder more than a day ago. Raises nothing."""
    with contextlib.suppress(OSError):
        for entry in list(_entries(folder)):
            with contextlib.suppress(OSError):  # another process sweeps too
                _remove_if_old(entry)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and _NAME.fullmatch(entry.name):
                yield entry


def _remove_if_old(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        changed = [entry, *os.scandir(entry)]
        if max(each.stat(follow_symlinks=False).st_mtime for each in changed) < time.time() - _OLD:
            shutil.rmtree(entry)
    elif entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < time.time() - _OLD and not _held(entry.path):
        os.unlink(entry)


def _held(path: str) -> bool:
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
