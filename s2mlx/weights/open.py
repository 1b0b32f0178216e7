"""The door: a model file or folder, opened and checked."""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelError


def open_checkpoint(path, *, memory_limit=None):
    """Open and check a GGUF file or an official checkpoint folder; nothing is decoded yet. Returns a `Checkpoint`.

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
