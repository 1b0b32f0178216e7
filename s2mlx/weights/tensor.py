"""One weight of a model: what a file says of it and where its bytes lie, and how exact floats are made of them."""

from __future__ import annotations

import enum
import math
import mmap
from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx
import numpy as np
from gguf.constants import GGMLQuantizationType

from ..device import on_gpu
from . import compiled, cores
from .block_formats import FLOATS, decode, decode_host
from .mapped import Region, Rows, TensorBytes

# Weights decoded at a time: bounds what loading takes beyond its result (about 12 bytes each).
PIECE = 1 << 20
# Types that kernels read in words of 8 bytes, the others in words of 16; safetensors files begin at multiples of 8.
HALVES = frozenset({GGMLQuantizationType.F16, GGMLQuantizationType.BF16})
# Rows transposed at a time: few enough to be read from the cache, enough to be decoded and written at speed.
STRIPE = 256
# Weights that one thread opens at a time: as many bytes as its cache holds, and enough for the calls not to matter.
_SHARE = 1 << 19


class Storage(enum.Enum):
    """DENSE: float32, the fastest on the CPU.
    PACKED: as few bits as the file has, in the layout that MLX can multiply with where there is one.
    TABLE: the file's bits, for rows that are looked up; a matrix cut from it (the head: 4097 rows) is DENSE.
    RAW: the file's own blocks, for the Metal kernels.
    COMPILED: the file's own blocks where they lie, for products in machine code of the CPU."""

    DENSE = "dense"
    PACKED = "packed"
    TABLE = "table"
    RAW = "raw"
    COMPILED = "compiled"


@dataclass(frozen=True, eq=False)
class Tensor:
    """One weight as the file holds it: readers of files make it, `assemble` gives it the name and the shape that the
    networks know it by, and its storage.

    shape: [out, in], as PyTorch has it; vectors [n], convolutions [out, in, k] ([in, out, k] if transposed).
    region: its bytes, or what stands for them (`Packed`, `Folded`). storage: how a `Linear` of it is to be kept
    (planned for the whole checkpoint).
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
    def row_bytes(self) -> int:
        """Length of `data`'s rows, which are not opened for that."""
        return self.nbytes // math.prod(self.shape[:-1])

    def held(self) -> np.ndarray:
        """`data`, for who keeps it: the system begins to read it from the disk, or, where it had to be made of other
        bytes, lets go of these."""
        data = self.data
        if isinstance(self.region, Region):
            self.region.read_ahead()
        else:
            self.region.release()
        return data

    @property
    def rows(self) -> Rows:
        """What `data` is made of when only slices of it are wanted: of a packed tensor then no more is opened."""
        return self.region.rows(math.prod(self.shape[:-1]))

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return self.region.nbytes

    def dense(self) -> mx.array:
        """The exact values as an mx.array, float32, of `shape`."""
        if self.elements > PIECE and not on_gpu():
            return mx.array(self.opened()).reshape(self.shape)
        return self.convert(lambda part: decode(part, self.type)).reshape(self.shape)

    def opened(self) -> np.ndarray:
        """The exact values as NumPy's float32 [rows, row], made by all cores."""
        data, kind = self.rows, self.type
        result = _room(len(data), self.shape[-1])

        def fill(part: slice) -> None:
            _open(data[part], kind, result[part])

        step = max(_SHARE // self.shape[-1], 1)
        parts = [slice(at, at + step) for at in range(0, len(data), step)]
        _sharing(data)(fill, parts)
        self.region.release()
        return result

    def arranged(self, shape: tuple[int, ...], axis: int, turn: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The exact values in another order, NumPy's float32 of `shape`, made by all cores.

        turn(some of it, [n, *self.shape[1:]]) is the part of the result that has those n along `axis`."""
        first, width = self.shape[0], self.elements // self.shape[0]
        data, result = self.region.rows(first), _room(1, math.prod(shape)).reshape(shape)
        step = max(_SHARE // width, 16)

        def write(part: slice) -> None:
            given = data[part]
            floats = cores.room(len(given), width)
            _open(given, self.type, floats)
            np.copyto(result[(slice(None),) * axis + (part,)], turn(floats.reshape(-1, *self.shape[1:])))

        parts = [slice(at, at + step) for at in range(0, first, step)]
        _sharing(data)(write, parts)
        self.region.release()
        return result

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
            return self.region.array(align=8 if self.type in HALVES else 16).reshape(-1, self.row_bytes)
        array = mx.array(self.data)
        self.region.release()
        return array


def _sharing(data: Rows) -> Callable[..., None]:
    """By all cores, or where MLX makes the rows as they are asked for, by this one."""
    return cores.share if isinstance(data, np.ndarray) else cores.alone


def _open(data: np.ndarray, kind: GGMLQuantizationType, out: np.ndarray) -> None:
    """The exact values of rows, in the quickest way there is."""
    if kind in FLOATS and out.size % 16 == 0:  # rows may be as short as a kernel
        data, out = data.reshape(1, -1), out.reshape(1, -1)
    if compiled.reads(kind, data.shape[1]):
        compiled.open_rows(data, kind, out)
    else:
        decode_host(data, kind, out)


def _room(rows: int, columns: int) -> np.ndarray:
    """float32 [rows, columns], not filled. In pages of the usual size: NumPy asks for huge ones, and where memory is
    in pieces the system then moves others' pages about for longer than the weights take to open."""
    pages = mmap.mmap(-1, max(4 * rows * columns, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, np.float32, rows * columns).reshape(rows, columns)
