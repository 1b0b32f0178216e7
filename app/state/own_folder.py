"""A folder for each app that runs at the same time, so that none overwrites what another keeps."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain, count
from pathlib import Path

from s2mlx.files import locked, private_folder

_LOCK = ".lock"


class OwnFolder:
    """`folder` is this app's own until `leave`, or until its process ends. One in which an app that has ended left
    something comes first."""

    def __init__(self, parent: Path):
        self._lock = ExitStack()
        self.folder = self._claim(parent)

    def leave(self) -> None:
        self._lock.close()

    def _claim(self, parent: Path) -> Path:
        """Where no folder can be made, it is one that writing will complain about."""
        folders = chain(_left_behind(parent), (parent / str(number) for number in count()))
        while True:
            folder = next(folders)
            try:
                private_folder(folder)
                self._lock.enter_context(locked(folder / _LOCK, wait=0))
            except TimeoutError:  # an app that runs
                continue
            except OSError:
                pass
            return folder


def _left_behind(parent: Path) -> list[Path]:
    try:
        return [folder for folder in sorted(parent.iterdir()) if any(file.name != _LOCK for file in folder.iterdir())]
    except OSError:
        return []
