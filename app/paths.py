"""Paths as people type them, and what can be said of them before they are used. Whatever was typed, nothing raises."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

TEXTS = (".txt", ".md")  # endings of files of text
LONGEST = 4096  # characters of a path


def typed(text: str) -> Path:
    """The path meant by `text`, as people type it or as a terminal gives it when a file is dropped on it: spaces around
    it fall away, `~` is the home folder; `file://` addresses, quotes and backslashes are read unless a file has such a
    name."""
    text = text.strip()
    plain = Path(os.path.expanduser(text))
    if _there(plain):
        return plain
    meant = _as_terminals_give_it(text)
    return plain if meant is None else Path(os.path.expanduser(meant))


def dropped(text: str) -> Path | None:
    """The file that was dropped, where a pasted text is nothing but one path that a terminal gives."""
    text = text.strip()
    if not text or "\n" in text or len(text) > LONGEST:
        return None
    path = typed(text)
    return path if path.is_absolute() and _there(path) and path.is_file() else None


def _as_terminals_give_it(text: str) -> str | None:
    if text.startswith("file://"):
        try:
            return unquote(urlsplit(text).path, errors="surrogateescape")
        except ValueError:
            return None
    if "\\" not in text and text[:1] not in ("'", '"'):
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    return words[0] if len(words) == 1 else None


def _there(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # no file can have such a name
        return False


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
