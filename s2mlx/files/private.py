"""Files and folders that nobody but their owner can read: recordings, voices, texts, settings."""

from __future__ import annotations

import os
from pathlib import Path


def private_folder(path: Path) -> None:
    """Make the folder, unless it is there, and those above it that are missing, all for their owner alone. What is
    there stays as it is. Raises OSError."""
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            folder.mkdir(0o700, exist_ok=True)
    path.mkdir(0o700, exist_ok=True)  # or the error of what is no folder


def private_opener(path: str, flags: int) -> int:
    """For `open(..., opener=private_opener)`: a file that is made is for its owner alone."""
    return os.open(path, flags, 0o600)
