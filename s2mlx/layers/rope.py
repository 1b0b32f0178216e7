"""Rotary position embedding on interleaved pairs: elements 2i and 2i+1 rotate together (Su et al. 2021).

A pair is one complex number, so the rotation is one complex product with a table of unit vectors.
The official code rounds cos and sin to bfloat16, and the weights were trained so; `table_dtype` float32 is the
numerics of s2.cpp.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np

_GROW = 1024  # positions added to the table at a time
_KEPT = 4096  # rows beyond are computed when they are asked for: a stream of speech may go on for hours


class Rope:
    """The table of one stack: [positions, head_dim / 2] complex64, extended as positions are asked for."""

    def __init__(self, head_dim: int, base: float, table_dtype: mx.Dtype = mx.bfloat16):
        self.head_dim, self.base, self.table_dtype = head_dim, base, table_dtype
        self.table = self._compute(0, _GROW)

    def at(self, offset: int, length: int) -> mx.array:
        """Rows for positions offset .. offset + length - 1, complex64 [length, head_dim / 2]."""
        if offset + length > _KEPT:
            return self._compute(offset, offset + length)
        return self.upto(offset + length)[offset : offset + length]

    def in_numpy(self, offset: int, length: int) -> np.ndarray:
        """As `at`, in NumPy's memory."""
        if offset + length > _KEPT:
            return np.asarray(self._compute(offset, offset + length))
        return np.asarray(self.upto(offset + length))[offset : offset + length]

    def upto(self, positions: int) -> mx.array:
        """The table, with at least that many rows."""
        self._reach(positions)
        return self.table

    def _reach(self, positions: int) -> None:
        if positions > self.table.shape[0]:
            self.table = self._compute(0, -(-positions // _GROW) * _GROW)

    def _compute(self, begin: int, end: int) -> mx.array:
        # float32 throughout, in the order of the official code: the rounding is part of the numerics
        i = np.arange(0, self.head_dim, 2, dtype=np.float32)[: self.head_dim // 2]
        freqs = (1.0 / np.power(np.float32(self.base), i / np.float32(self.head_dim))).astype(np.float32)
        angle = np.arange(begin, end, dtype=np.float32)[:, None] * freqs[None]
        pairs = mx.array(np.stack([np.cos(angle), np.sin(angle)], -1)).astype(self.table_dtype).astype(mx.float32)
        table = mx.view(pairs, mx.complex64)[..., 0]
        mx.eval(table)
        return table


def rotate(x: mx.array, table: mx.array) -> mx.array:
    """Rotate x float32 [..., head_dim] by unit vectors complex64 [..., head_dim / 2]."""
    return mx.view(mx.view(x, mx.complex64) * table, mx.float32)
