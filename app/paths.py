"""Paths as people type them, and what can be said of them before they are used. Whatever was typed, nothing raises."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path


def typed(text: str) -> Path:
    """The path meant by `text`: spaces around it fall away, `~` is the home folder."""
    return Path(os.path.expanduser(text.strip()))


def readable(values: dict) -> str:
    """A check for forms with a `path` that is to be read."""
    if not values["path"].strip():
        return "a file is needed"
    path = typed(values["path"])
    return "" if os.path.isfile(path) else f"there is no file {path}"


def writable(
    endings: Sequence[str], beside: Callable[[dict], Sequence[Path]] = lambda values: ()
) -> Callable[[dict], str]:
    """A check for forms with a `path` that is to be written: known ending, existing folder, and a second Enter to
    replace a file. `beside(values)`: what else will be written."""
    warned: set[Path] = set()

    def check(values: dict) -> str:
        path = typed(values["path"])
        if not values["path"].strip():
            return "a file name is needed"
        if path.suffix.lower() not in endings:
            return f"the name must end in {', '.join(endings)}"
        if not os.path.isdir(path.absolute().parent):
            return f"there is no folder {path.absolute().parent}"
        targets = [path, *beside(values)]
        for target in targets:
            if os.path.isdir(target):
                return f"{target} is a folder"
        there = [target for target in targets if os.path.lexists(target) and target not in warned]
        warned.update(there)
        if there:
            names = " and ".join(target.name for target in there)
            return f"{names} exist{'s' * (len(there) == 1)}: accept once more to replace"
        return ""

    return check
