"""A model's weights and sizes, whatever file they come from, before any network is built.

Knows tensors as named blocks of bytes of a GGML type and how to make exact floats of them; knows no file format and
no network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from gguf.constants import GGMLQuantizationType

from ..config import ModelConfig
from .storage import Storage


@dataclass(frozen=True, eq=False)
class Tensor:
    """One weight as the file holds it.

    shape: [out, in], as PyTorch has it; vectors [n], convolutions [out, in, k] ([in, out, k] if transposed).
    data: uint8 [rows, row_bytes], a view of the mapped file; a row is the last dimension.
    storage: how a `Linear` of it is to be kept (decided once for the whole checkpoint).
    """

    name: str
    shape: tuple[int, ...]
    type: GGMLQuantizationType
    data: np.ndarray
    storage: Storage = Storage.PACKED
    release: Callable[[], None] = lambda: None   # lets go of the memory that reading `data` took

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return self.data.nbytes

    def dense(self):
        """The exact values as an mx.array, float32, of `shape`."""
        import mlx.core as mx

        from .blocks import decode

        values = mx.array(decode(self.data, self.type).reshape(self.shape))
        self.release()
        return values


class Checkpoint:
    """An opened model: `config`, and `tensors` by their GGUF names (codec names always begin with `c.`).

    packed_bytes: bytes of all tensors in the file. Close it (or leave its `with`) when the networks are built.
    """

    def __init__(self, path: Path, config: ModelConfig, tensors: Mapping[str, Tensor], storage: Storage):
        self.path, self.config, self.storage = path, config, storage
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
