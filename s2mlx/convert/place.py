"""Finished folders -> their places: onto a free name at once or not at all, or in exchange for known names.

Between a look and a step another process may act. So nothing here relies on a look: what stands in the way makes the
step itself fail, and what is removed is removed by its name.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path

from ..errors import S2Error

_IN_THE_WAY = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}  # what a rename says to a folder that is not empty, a file


def add_folder(temporary: Path, path: Path, unnoticed) -> None:
    """Give the folder the name `path`, where nothing or an empty folder is; `FileExistsError` otherwise.

    unnoticed: names of files that leave a folder empty.
    """
    for name in unnoticed:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            (path / name).unlink()
    try:
        os.rename(temporary, path)
    except OSError as fault:
        if fault.errno not in _IN_THE_WAY:
            raise
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None


def replace_folder(temporary: Path, path: Path, known: Callable[[str], bool]) -> None:
    """Put the folder where another one is, and remove that: the files in it whose names are `known`, and nothing else.

    Whatever comes between stays, if need be under another name that the `S2Error` tells.
    """
    old = temporary.with_name(temporary.name + ".old")
    os.rename(path, old)
    try:
        os.rename(temporary, path)
    except BaseException as fault:
        try:
            os.rename(old, path)
        except OSError:
            raise S2Error(f"{path} could not be replaced; what it held is in {old}") from fault
        raise
    for entry in list(os.scandir(old)):
        if known(entry.name) and not entry.is_dir(follow_symlinks=False):
            os.unlink(entry)
    try:
        old.rmdir()
    except OSError:
        raise S2Error(f"{path} is made; what came into the former one meanwhile is in {old}") from None
