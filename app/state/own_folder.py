"""A folder for each app that runs at the same time, so that none overwrites what another keeps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import chain, count
from pathlib import Path

from s2mlx.files import locked, private_folder

_LOCK = ".lock"


class OwnFolder:
    """`folder` is this app's own until `leave`, or until its process ends: one that another app has left, those first
    for which `worth` is more, or a new one."""

    def __init__(self, parent: Path, worth: Callable[[Path], tuple]):
        self._lock = ExitStack()
        self.folder = self._claim(parent, worth)

    def leave(self) -> None:
        self._lock.close()

    def _claim(self, parent: Path, worth: Callable[[Path], tuple]) -> Path:
        """Where no folder can be made, it is one that writing will complain about."""
        left = sorted(sorted(_folders(parent)), key=worth, reverse=True)
        for folder in chain(left, (parent / str(number) for number in count())):
            try:
                private_folder(folder)
                self._lock.enter_context(locked(folder / _LOCK, wait=0))
            except TimeoutError:  # an app that runs
                continue
            except OSError:
                pass
            return folder
        raise AssertionError("numbers do not end")


def _folders(parent: Path) -> list[Path]:
    try:
        return [path for path in parent.iterdir() if path.is_dir()]
    except OSError:
        return []
