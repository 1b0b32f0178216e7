"""Notes that a person is told once, not at every run: each leaves an empty file behind."""

from __future__ import annotations

import os

from ..errors import S2Error
from .folders import state_dir
from .private import private_folder, private_opener


def first_time(note: str) -> bool:
    """Whether the note of that name was never told to this user. Where nothing can be kept, it is told each time."""
    try:
        folder = state_dir() / "told"
        private_folder(folder)
        with open(folder / note, "xb", opener=private_opener):
            return True
    except FileExistsError:
        return not os.path.isfile(folder / note)
    except (OSError, S2Error):
        return True
