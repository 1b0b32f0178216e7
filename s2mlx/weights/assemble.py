"""Named tensors and metadata from any kind of file -> a checked Checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from .block_formats import SUPPORTED
from .checkpoint import Checkpoint
from .layout import check_tensors
from .metadata import read_config
from .storage import plan
from .tensor import Tensor

_LICENCE = 200  # characters


def assemble(path: Path, metadata: Mapping, found: Mapping[str, Tensor], memory_limit: int | None) -> Checkpoint:
    """metadata: s2.cpp's keys. found: by s2.cpp's names, the codec's beginning with `c.`. Raises `ModelError`."""
    config = read_config(metadata, {name: tensor.shape for name, tensor in found.items()}, path)
    shapes = check_tensors(config, found, SUPPORTED, path)
    tensors = {name: replace(found[name], name=name, shape=shape) for name, shape in shapes.items()}
    storage = plan(tensors, memory_limit, path)
    tensors = {name: replace(tensor, storage=storage[name]) for name, tensor in tensors.items()}
    return Checkpoint(path, config, tensors, _licence(metadata))


def _licence(metadata: Mapping) -> str | None:
    """Its identifier, or the name of one that has none."""
    said = [metadata.get(key) for key in ("general.license", "general.license.name")]
    words = [" ".join(text.split())[:_LICENCE] for text in said if isinstance(text, str) and text.strip()]
    return words[-1] if words[:1] == ["other"] else next(iter(words), None)
