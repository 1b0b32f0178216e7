"""The door: a model file or folder, opened and checked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ModelError

if TYPE_CHECKING:
    from .checkpoint import Checkpoint


def open_checkpoint(path: str | os.PathLike[str], *, memory_limit: int | None = None) -> Checkpoint:
    """Open and check a GGUF file or an official checkpoint folder; nothing is decoded yet.

    memory_limit: bytes that dense weights may take on the CPU backend; None allows half of the machine's memory.
    Raises `ModelError` with one line for anything that is wrong with the file.
    """
    path = Path(path)
    if not path.exists():
        raise ModelError(f"{path}: no such file")
    if path.is_dir():
        from .official import open_folder

        return open_folder(path, memory_limit)
    from .gguf_model import open_gguf

    return open_gguf(path, memory_limit)
