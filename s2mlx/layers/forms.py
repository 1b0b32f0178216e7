"""The forms a weight matrix W [out, in] can have in memory, each with the same few methods.

    matmul(x [..., in]) -> x @ W.T, of x's type      rows(ids) -> float32 [*ids.shape, in], exact
    select(index) -> the same form of some rows      join(others) -> rows below each other, or None if they differ
    arrays: what it holds in memory

Those that the CPU multiplies in NumPy's memory also have product(x [N, in]) -> [N, out], from and into it; those that
hold embeddings there, opened(ids [n]) -> float32 [n, in], where rows that do not exist are the nearest that do.

Knows arithmetic and layouts, not where a weight comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx
import numpy as np
from gguf.constants import GGMLQuantizationType

from ..device import on_gpu
from ..kernels.dequantize import dequantize_rows
from ..kernels.qmv import qmv
from ..weights import affine, compiled
from ..weights.block_formats import columns, decode, decode_host
from .matmul import blocks_product, dense_product, host_blas, host_product, matmul, through_numpy

# On the CPU a matrix is opened a piece at a time: about 4 MB of floats stay in the cache until they are used.
PIECE = 1 << 20
# More rows of x than this, and opening an affine matrix once costs less than MLX's own product (CPU).
FEW_ROWS = 4


@dataclass(frozen=True)
class Dense:
    """float32, stored [in, out]."""

    w: mx.array

    @property
    def shape(self):
        return self.w.shape[1], self.w.shape[0]

    @property
    def arrays(self):
        return [self.w]

    def matmul(self, x):
        return matmul(x, self.w)

    def product(self, x):
        return dense_product(x, np.asarray(self.w))

    def rows(self, ids):
        return mx.moveaxis(mx.take(self.w, ids, axis=1), 0, -1)

    def select(self, index):
        return Dense(mx.contiguous(self.w[:, index]))

    def join(self, others):
        return Dense(mx.concatenate([self.w, *(o.w for o in others)], axis=1))


@dataclass(frozen=True)
class Host:
    """float32 in NumPy's memory, stored [out, in] as in the file: the CPU's cores share its products.

    Matrices below each other stay where they are."""

    matrices: tuple[np.ndarray, ...]

    @property
    def shape(self):
        return sum(len(w) for w in self.matrices), self.matrices[0].shape[1]

    @property
    def arrays(self):
        return list(self.matrices)

    def matmul(self, x):
        if host_blas():
            return through_numpy(x, self.product).astype(x.dtype)
        return mx.concatenate([x @ mx.array(w).T for w in self.matrices], axis=-1)  # switched off since it was loaded

    def product(self, x):
        return host_product(x, self.matrices)

    def rows(self, ids):
        return mx.array(self._whole()[np.asarray(ids)])

    def select(self, index):
        return Host((self._whole()[_for_numpy(index)],))

    def join(self, others):
        return Host((*self.matrices, *(w for o in others for w in o.matrices)))

    def _whole(self):
        return self.matrices[0] if len(self.matrices) == 1 else np.concatenate(self.matrices)


@dataclass(frozen=True)
class Compiled:
    """The file's own blocks or floats where they lie, uint8 [out, row_bytes] and their type: the CPU's cores share
    their products, in machine code made for it.

    Matrices below each other stay where they are, whatever their types."""

    matrices: tuple[tuple[np.ndarray, GGMLQuantizationType], ...]

    @property
    def shape(self):
        (data, kind), *_ = self.matrices
        return sum(len(data) for data, _ in self.matrices), columns(data.shape[1], kind)

    @property
    def arrays(self):
        return [data for data, _ in self.matrices]

    def matmul(self, x):
        if compiled.available():
            return through_numpy(x, self.product).astype(x.dtype)
        parts = [Blocks(mx.array(data), kind).matmul(x) for data, kind in self.matrices]  # switched off since
        return parts[0] if len(parts) == 1 else mx.concatenate(parts, axis=-1)

    def product(self, x):
        return blocks_product(x, self.matrices)

    def rows(self, ids):
        """Rows that do not exist are the nearest that do."""
        return mx.array(self.opened(np.asarray(ids).reshape(-1)).reshape(*ids.shape, -1))

    def opened(self, ids):
        data, kind = self._one()
        out = np.empty((len(ids), self.shape[1]), np.float32)
        (compiled.open_rows if compiled.available() else decode_host)(_nearest_rows(data, ids), kind, out)
        return out

    def select(self, index):
        data, kind = self._one()
        return Compiled(((data[_for_numpy(index)], kind),))

    def join(self, others):
        return Compiled((*self.matrices, *(m for o in others for m in o.matrices)))

    def _one(self):
        """Raises `ValueError` for matrices below each other: rows are wanted of tables and of heads only."""
        if len(self.matrices) > 1:
            raise ValueError("rows of matrices that were joined")
        return self.matrices[0]


@dataclass(frozen=True)
class Float:
    """float32, float16 or bfloat16 as in the file, stored [out, in].

    On a GPU x takes the type of W for the product, as ggml does; on the CPU W becomes float32, piece by piece."""

    w: mx.array

    @property
    def shape(self):
        return tuple(self.w.shape)

    @property
    def arrays(self):
        return [self.w]

    def matmul(self, x):
        if on_gpu():
            return (x.astype(self.w.dtype) @ self.w.T).astype(x.dtype)
        return _by_pieces(x, self.shape, lambda part: self.w[part].astype(mx.float32))

    def rows(self, ids):
        return self.w[ids].astype(mx.float32)

    def select(self, index):
        return Float(mx.contiguous(self.w[index]))

    def join(self, others):
        if any(o.w.dtype != self.w.dtype for o in others):
            return None
        return Float(mx.concatenate([self.w, *(o.w for o in others)]))


@dataclass(frozen=True)
class Affine:
    """MLX's packed layout with groups of 32 and float32 scales: see `weights.affine`."""

    words: mx.array
    scale: mx.array
    offset: mx.array
    bits: int

    @property
    def shape(self):
        return self.scale.shape[0], self.scale.shape[1] * affine.GROUP

    @property
    def arrays(self):
        return [self.words, self.scale, self.offset]

    def matmul(self, x):
        if x.size > FEW_ROWS * x.shape[-1] and not on_gpu():
            return _by_pieces(x, self.shape, lambda part: affine.values(*(a[part] for a in self.arrays), self.bits))
        # float32 scales make MLX compute in float32 whatever x is; half precision would be slow on the CPU, and inexact
        return mx.quantized_matmul(x, *self.arrays, transpose=True, group_size=affine.GROUP, bits=self.bits).astype(
            x.dtype
        )

    def rows(self, ids):
        if on_gpu():
            return mx.dequantize(*(a[ids] for a in self.arrays), group_size=affine.GROUP, bits=self.bits)
        flat = ids.reshape(-1)
        return affine.values(*(a[flat] for a in self.arrays), self.bits).reshape(*ids.shape, -1)

    def select(self, index):
        return Affine(*(mx.contiguous(a[index]) for a in self.arrays), self.bits)

    def join(self, others):
        if any(o.bits != self.bits for o in others):
            return None
        return Affine(*(mx.concatenate(part) for part in zip(self.arrays, *(o.arrays for o in others))), self.bits)


@dataclass(frozen=True)
class Blocks:
    """The file's own blocks, uint8 [out, row_bytes]: groups of 16 or 32, opened for each product."""

    data: mx.array
    kind: GGMLQuantizationType

    @property
    def shape(self):
        return self.data.shape[0], columns(self.data.shape[1], self.kind)

    @property
    def arrays(self):
        return [self.data]

    def matmul(self, x):
        return _by_pieces(x, self.shape, lambda part: decode(self.data[part], self.kind))

    def rows(self, ids):
        return decode(self.data[ids.reshape(-1)], self.kind).reshape(*ids.shape, -1)

    def select(self, index):
        return type(self)(mx.contiguous(self.data[index]), self.kind)

    def join(self, others):
        if any(o.kind != self.kind for o in others):
            return None
        return type(self)(mx.concatenate([self.data, *(o.data for o in others)]), self.kind)


@dataclass(frozen=True)
class Table(Blocks):
    """As `Blocks`, where they lie in the mapped file: for the CPU, which needs a few rows of them."""

    data: np.ndarray  # type: ignore[assignment]  # which stands for the same bytes

    def matmul(self, x):
        return self.select(slice(None)).matmul(x)

    def rows(self, ids):
        """Rows that do not exist are the nearest that do."""
        chosen = mx.array(_nearest_rows(self.data, np.asarray(ids).reshape(-1)))
        return decode(chosen, self.kind).reshape(*ids.shape, -1)

    def opened(self, ids):
        out = np.empty((len(ids), self.shape[1]), np.float32)
        decode_host(_nearest_rows(self.data, ids), self.kind, out)
        return out

    def select(self, index):
        return Blocks(mx.array(self.data[_for_numpy(index)]), self.kind)

    def join(self, others):
        if any(o.kind != self.kind for o in others):
            return None
        return Table(np.concatenate([self.data, *(o.data for o in others)]), self.kind)


class RawBlocks(Blocks):
    """Blocks, or floats, that the Metal kernels multiply as they lie in the file."""

    def matmul(self, x):
        return qmv(self.data, x, self.kind)

    def rows(self, ids):
        return dequantize_rows(self.data, ids, self.kind)


@dataclass(frozen=True)
class Parts:
    """Matrices of unlike forms below each other, multiplied one by one."""

    parts: tuple

    @property
    def shape(self):
        return sum(p.shape[0] for p in self.parts), self.parts[0].shape[1]

    @property
    def arrays(self):
        return [a for p in self.parts for a in p.arrays]

    def matmul(self, x):
        return mx.concatenate([p.matmul(x) for p in self.parts], axis=-1)


def _by_pieces(x, shape, open_rows):
    """x @ W.T where open_rows(slice) gives those rows of W in float32; only a piece of W is ever open on the CPU."""
    step = max(PIECE // shape[1], 1) if not on_gpu() else shape[0]
    pieces = [matmul(x.astype(mx.float32), open_rows(slice(at, at + step)).T) for at in range(0, shape[0], step)]
    return (pieces[0] if len(pieces) == 1 else mx.concatenate(pieces, axis=-1)).astype(x.dtype)


def _for_numpy(index):
    """Rows as `select` is given them, a slice or an mx.array of numbers."""
    return index if isinstance(index, slice) else np.asarray(index)


def _nearest_rows(data, ids):
    """Rows of NumPy's `data` by number [n], those that do not exist being the nearest that do."""
    return np.take(data, ids, axis=0, mode="clip")
