"""A GGUF file in s2.cpp's dialect -> Checkpoint. Joins container, metadata and layout; knows none of them inside."""

from __future__ import annotations

import math
from pathlib import Path

from ..errors import ModelError
from .blocks import SUPPORTED
from .checkpoint import Checkpoint, Tensor
from .gguf_file import GGUFFile
from .layout import check_tensors, role
from .metadata import CODEC_ARCHITECTURE, architecture, read_config
from .storage import Part, plan

FOREIGN = ("model_weights/", "codec_weights/")


def open_gguf(path: Path, memory_limit: int | None) -> Checkpoint:
    file = GGUFFile(path)
    for name in file.entries:
        if name.startswith(FOREIGN):
            raise ModelError(f"{path}: tensor {name!r}: this file is in audio.cpp's dialect; "
                             "use a GGUF in s2.cpp's layout (for example s2-pro-q6_k.gguf)")
    prefix = "c." if architecture(file.metadata, path) == CODEC_ARCHITECTURE else ""
    entries = {prefix + name: entry for name, entry in file.entries.items()}
    config = read_config(file.metadata, {name: entry.shape for name, entry in entries.items()}, path)
    shapes = check_tensors(config, entries, SUPPORTED, path)
    parts = {name: Part(math.prod(shape), entries[name].end - entries[name].begin, entries[name].type, role(name))
             for name, shape in shapes.items()}
    storage = plan(parts, memory_limit, path)
    return Checkpoint(path, config, {
        name: Tensor(name, shape, entries[name].type, file.region(entries[name]), storage[name])
        for name, shape in shapes.items()})
