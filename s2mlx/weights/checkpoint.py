"""A model's weights and sizes, whatever file they come from, before any network is built.

Knows tensors as named blocks of bytes of a GGML type and how to make exact floats of them; knows no file format and
no network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import mlx.core as mx
import numpy as np
from gguf.constants import GGMLQuantizationType

from ..config import ModelConfig
from .block_formats import decode
from .mapped import Rows, TensorBytes
from .storage import Storage

# Weights decoded at a time: bounds what loading takes beyond its result (about 12 bytes each).
PIECE = 1 << 20
# Types that kernels read in words of 8 bytes, the others in words of 16; safetensors files begin at multiples of 8.
HALVES = frozenset({GGMLQuantizationType.F16, GGMLQuantizationType.BF16})
# Rows transposed at a time: few enough to be read from the cache, enough to be decoded and written at speed.
STRIPE = 256


@dataclass(frozen=True, eq=False)
class Tensor:
    """One weight as the file holds it.

    shape: [out, in], as PyTorch has it; vectors [n], convolutions [out, in, k] ([in, out, k] if transposed).
    region: its bytes. storage: how a `Linear` of it is to be kept (planned for the whole checkpoint).
    """

    name: str
    shape: tuple[int, ...]
    type: GGMLQuantizationType
    region: TensorBytes
    storage: Storage = Storage.PACKED

    @property
    def data(self) -> np.ndarray:
        """uint8 [rows, row_bytes], a view of the mapped file; a row is the last dimension."""
        return self.region.data.reshape(math.prod(self.shape[:-1]), -1)

    @property
    def rows(self) -> Rows:
        """What `data` is made of when only slices of it are wanted: of a packed tensor then no more is opened."""
        return self.region.rows(math.prod(self.shape[:-1]))

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return self.region.nbytes

    def dense(self) -> mx.array:
        """The exact values as an mx.array, float32, of `shape`."""
        return self.convert(lambda part: decode(part, self.type)).reshape(self.shape)

    def transposed(self) -> mx.array:
        """The exact values of a matrix as an mx.array, float32 [in, out].

        Written through NumPy's view of the result, a narrow stripe at a time: half the time and memory of a transposed
        copy in MLX.
        """
        rows, columns = self.shape
        result = mx.full((columns, rows), 0.0)
        mx.eval(result)
        view, data = np.asarray(result), self.rows
        for at in range(0, rows, STRIPE):
            stripe = decode(mx.array(data[at : at + STRIPE]), self.type)
            view[:, at : at + STRIPE] = np.asarray(stripe).T
        self.region.release()
        return result

    def convert(self, make: Callable):
        """`make(uint8 [some rows, row_bytes])` for a few rows at a time, the results below each other.

        `make` returns one array or a tuple of them, and so does this. No more than one piece is ever open.
        """
        data, step = self.rows, max(PIECE // self.shape[-1], 1)
        pieces = []
        for at in range(0, len(data), step):
            pieces.append(make(mx.array(data[at : at + step])))
            mx.eval(pieces[-1])
        self.region.release()
        if len(pieces) == 1:
            return pieces[0]
        several = isinstance(pieces[0], tuple)
        whole = tuple(mx.concatenate(list(column)) for column in zip(*pieces)) if several else mx.concatenate(pieces)
        mx.eval(whole)  # now, so that the pieces go
        return whole

    def raw(self) -> mx.array:
        """The bytes as mx.uint8 [rows, row_bytes]: the mapped pages themselves on a GPU that can share them."""
        if self.storage is Storage.RAW:
            return self.region.array(align=8 if self.type in HALVES else 16).reshape(self.data.shape)
        array = mx.array(self.data)
        self.region.release()
        return array


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
