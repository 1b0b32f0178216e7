"""A folder for each app that runs at once, so that none overwrites what another keeps. Knows files only."""

from __future__ import annotations

import fcntl
from itertools import chain, count
from pathlib import Path
from typing import IO

_LOCK = ".lock"


class Slot:
    """`folder` is this app's own until `leave`, or until its process ends. One in which an app that has ended left
    something comes first."""

    def __init__(self, parent: Path):
        self.folder, self._lock = _claim(parent)

    def leave(self) -> None:
        if self._lock:
            self._lock.close()


def _claim(parent: Path) -> tuple[Path, IO | None]:
    """A folder and the open file that locks it. Where no folder can be made, one that writing will complain about."""
    folders = chain(_left_behind(parent), (parent / str(number) for number in count()))
    while True:
        folder = next(folders)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = open(folder / _LOCK, "wb")
        except OSError:
            return folder, None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # an app that runs
            lock.close()
            continue
        except OSError:
            pass  # some network file systems have no locks
        return folder, lock


def _left_behind(parent: Path) -> list[Path]:
    try:
        return [folder for folder in sorted(parent.iterdir()) if any(file.name != _LOCK for file in folder.iterdir())]
    except OSError:
        return []
