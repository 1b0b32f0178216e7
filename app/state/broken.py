"""Damaged state files: put aside as `.broken`, where nothing overwrites them, and told in a line each."""

from __future__ import annotations

import os
from itertools import chain, count
from pathlib import Path

from s2mlx.errors import reason
from s2mlx.files import write_bytes

ENDING = ".broken"


class Damaged(Exception):
    """A file is not what it should be. The text says why."""


def put_aside(path: Path, why: object) -> str:
    """Take a damaged file out of the way; what to tell of it. Raises nothing."""
    try:
        aside = _free_name(path)
        os.rename(path, aside)
    except (OSError, ValueError) as fault:
        return f"{path} is left aside: {why}. It cannot be renamed: {reason(fault)}"
    return f"{path} is left aside: {why}. It is kept as {aside.name}"


def copy_aside(path: Path, data: bytes) -> str:
    """Keep what a file held before its damaged entries leave it: the name of the copy. Raises OSError."""
    aside = _free_name(path)
    write_bytes(aside, data, private=True)
    return aside.name


def _free_name(path: Path) -> Path:
    """app.json.broken, app.json.broken-2, ..."""
    endings = chain([ENDING], (f"{ENDING}-{number}" for number in count(2)))
    return next(
        free for free in (path.with_name(path.name + ending) for ending in endings) if not os.path.lexists(free)
    )
