"""y = x @ W.T + b over a weight in any form, and rows of W as embeddings.

Chooses the form (`forms`) for a tensor's type and storage; knows neither files nor networks.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np
from gguf.constants import GGMLQuantizationType

from ..kernels.blocks import readable
from ..weights import affine, compiled, cores
from ..weights.tensor import Storage
from .forms import Affine, Blocks, Compiled, Dense, Float, Host, Parts, RawBlocks, Table
from .matmul import host_blas


class Linear:
    """W [out, in] of a `Tensor`, kept as the tensor's `storage` says."""

    def __init__(self, tensor, bias=None):
        self._set(_form(tensor), None if bias is None else bias.dense(), tensor.storage)

    @classmethod
    def stack(cls, tensors) -> Linear:
        """The rows of several matrices of the same input below each other: one product instead of many."""
        return cls.joined([cls(tensor) for tensor in tensors])

    @classmethod
    def joined(cls, linears) -> Linear:
        """As `stack`, of what is loaded already; none has a bias."""
        first, *others = forms = [linear.form for linear in linears]
        same = all(type(f) is type(first) for f in others)
        return cls._of((first.join(others) if same else None) or Parts(tuple(forms)), linears[0].storage)

    @property
    def in_features(self) -> int:
        return self.form.shape[1]

    @property
    def out_features(self) -> int:
        return self.form.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(a.nbytes for a in self.form.arrays) + (0 if self.bias is None else self.bias.nbytes)

    def __call__(self, x: mx.array) -> mx.array:
        """x [..., in] -> [..., out], of x's type."""
        y = self.form.matmul(x)
        return y if self.bias is None else y + self.bias.astype(y.dtype)

    def rows(self, ids: mx.array) -> mx.array:
        """Rows by number, int32 of any shape -> float32 [*ids.shape, in]; only those rows are decoded."""
        return self.form.rows(ids) if ids.size else mx.zeros((*ids.shape, self.in_features))

    def select(self, begin, end: int | None = None) -> Linear:
        """Some rows as a matrix of their own: `select(ids)` (mx.array int32 [n]) or `select(begin, end)`."""
        index = begin if end is None else slice(begin, end)
        form = self.form.select(index)
        if self.storage is Storage.TABLE:
            rows = form.rows(mx.arange(form.shape[0]))
            form = Host((np.array(rows),)) if _for_host(rows.size) else Dense(mx.contiguous(rows.T))
        bias = None if self.bias is None else self.bias[index]
        return Linear._of(form, Storage.DENSE if self.storage is Storage.TABLE else self.storage, bias)

    @classmethod
    def _of(cls, form, storage, bias=None) -> Linear:
        self = cls.__new__(cls)
        self._set(form, bias, storage)
        return self

    def _set(self, form, bias, storage):
        self.form, self.bias, self.storage = form, bias, storage
        mx.eval([a for a in form.arrays if isinstance(a, mx.array)], [] if bias is None else bias)


def _form(tensor):
    """The tensor's rows in the form that its storage asks for and its type allows."""
    kind, storage = tensor.type, tensor.storage
    if storage is Storage.COMPILED:
        if compiled.reads(kind, tensor.row_bytes):
            return Compiled(((tensor.held(), kind),))
        storage = Storage.DENSE
    if storage is Storage.DENSE:
        return Host((tensor.opened(),)) if _for_host(tensor.elements) else Dense(tensor.transposed())
    if storage is Storage.RAW and readable(tensor.row_bytes, kind):
        return RawBlocks(tensor.raw(), kind)
    if storage is Storage.TABLE and host_blas():
        return Table(tensor.held(), kind)
    if kind in _FLOATS:
        return Float(tensor.raw().view(_FLOATS[kind]))
    if storage is Storage.TABLE or kind not in affine.KINDS:
        return Blocks(tensor.raw(), kind)
    return Affine(*tensor.convert(lambda part: affine.pack(part, kind)), affine.BITS[kind])


def _for_host(elements: int) -> bool:
    """Whether NumPy multiplies a matrix of this size faster than MLX, by one row too."""
    return elements >= cores.WORTH_IT and host_blas()


_FLOATS = {
    GGMLQuantizationType.F32: mx.float32,
    GGMLQuantizationType.F16: mx.float16,
    GGMLQuantizationType.BF16: mx.bfloat16,
}
