"""Ordinary files opened for reading. Of a pipe nobody knows the end, and opening one waits until somebody writes."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """The file, for reading. Raises OSError, also for a folder, a pipe or a device, and ValueError for what cannot be
    a name."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        mode = os.fstat(file).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file", os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", os.fspath(path))
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise
