"""Named tensors and metadata from any kind of file -> a checked Checkpoint. Knows no file format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gguf.constants import GGMLQuantizationType

from .block_formats import SUPPORTED
from .checkpoint import Checkpoint, Tensor
from .layout import check_tensors, role
from .mapped import TensorBytes
from .metadata import read_config
from .storage import Part, plan

_LICENCE = 200  # characters


class Found(NamedTuple):
    """A tensor as a file has it: PyTorch's order of dimensions."""

    shape: tuple[int, ...]
    type: GGMLQuantizationType
    region: TensorBytes


def assemble(path: Path, metadata: Mapping, found: Mapping[str, Found], memory_limit: int | None) -> Checkpoint:
    """metadata: s2.cpp's keys. found: by s2.cpp's names, the codec's beginning with `c.`. Raises `ModelError`."""
    config = read_config(metadata, {name: tensor.shape for name, tensor in found.items()}, path)
    shapes = check_tensors(config, found, SUPPORTED, path)
    storage = plan(
        {
            name: Part(math.prod(shape), found[name].region.nbytes, found[name].type, role(name))
            for name, shape in shapes.items()
        },
        memory_limit,
        path,
    )
    return Checkpoint(
        path,
        config,
        {
            name: Tensor(name, shape, found[name].type, found[name].region, storage[name])
            for name, shape in shapes.items()
        },
        _licence(metadata),
    )


def _licence(metadata: Mapping) -> str | None:
    """Its identifier, or the name of one that has none."""
    said = [metadata.get(key) for key in ("general.license", "general.license.name")]
    words = [" ".join(text.split())[:_LICENCE] for text in said if isinstance(text, str) and text.strip()]
    return words[-1] if words[:1] == ["other"] else next(iter(words), None)
