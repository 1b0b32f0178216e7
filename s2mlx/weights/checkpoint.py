"""A model's weights and sizes, whatever file they come from, before any network is built."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..config import ModelConfig
from .tensor import Tensor


class Checkpoint:
    """An opened model: `config`, and `tensors` by their GGUF names (codec names always begin with `c.`).

    packed_bytes: bytes of all tensors in the file. licence: what the file names, or None.
    Close it (or leave its `with`) when the networks are built.
    """

    def __init__(self, path: Path, config: ModelConfig, tensors: Mapping[str, Tensor], licence: str | None = None):
        self.path, self.config, self.licence = path, config, licence
        self.tensors = MappingProxyType(dict(tensors))

    @property
    def packed_bytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors.values())

    def close(self) -> None:
        """Forget the tensors; the map goes with the last array that looks into it."""
        self.tensors = MappingProxyType({})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
