"""Errors as people should hear them; those of this program also as they were, in a file."""

from __future__ import annotations

import traceback
from pathlib import Path

from s2mlx.errors import S2Error, reason
from s2mlx.files import private_folder, private_opener
from s2mlx.text import visible

from ..jobs import JobCancelled


def in_a_line(error: BaseException, log: Path) -> str:
    """An error in one line, and what to do. `log`: where more of a fault stands."""
    if isinstance(error, S2Error):
        return str(error)
    if isinstance(error, JobCancelled):
        return "cancelled"
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return f"{reason(error)}{where}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    return f"{type(error).__name__}: {error} (a fault of this program; details in {log})"


def keep_fault(error: BaseException, log: Path) -> None:
    """A fault of this program with its traceback."""
    if isinstance(error, (S2Error, JobCancelled, OSError)):
        return
    try:
        private_folder(log.parent)
        with open(log, "a", encoding="utf-8", opener=private_opener) as file:
            file.write(visible("".join(traceback.format_exception(error)), lines=True))
    except OSError:
        pass  # the message on the screen is what is left
