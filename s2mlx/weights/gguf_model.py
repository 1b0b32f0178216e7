"""A GGUF file in s2.cpp's dialect -> Checkpoint."""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelError
from .assemble import assemble
from .checkpoint import Checkpoint
from .metadata import CODEC_ARCHITECTURE, architecture
from .split_gguf import read_gguf

FOREIGN = ("model_weights/", "codec_weights/")


def open_gguf(path: Path, memory_limit: int | None) -> Checkpoint:
    file = read_gguf(path)
    for name in file.tensors:
        if name.startswith(FOREIGN):
            raise ModelError(
                f"{path}: tensor {name!r}: this file is in audio.cpp's dialect; "
                "use a GGUF in s2.cpp's layout (for example s2-pro-q6_k.gguf)"
            )
    prefix = "c." if architecture(file.metadata, path) == CODEC_ARCHITECTURE else ""
    found = {prefix + name: tensor for name, tensor in file.tensors.items()}
    return assemble(path, file.metadata, found, memory_limit)
