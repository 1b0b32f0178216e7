"""Raw GGUF blocks to matrices. Prefill multiplies by whole matrices; embeddings open only the rows they look up."""

from __future__ import annotations

import mlx.core as mx

from . import metal
from .blocks import FORMATS, columns, dequantize_reference, sample_blocks

THREADS = 64


def dequantize(w: mx.array, format: int, dtype: mx.Dtype = mx.float32) -> mx.array:
    """`w` uint8 [rows, row_bytes] -> [rows, K] of `dtype`; float32 is exact."""
    if metal.trusted(
        ("dequantize", int(format), dtype),
        _launch,
        dequantize_reference,
        lambda: (sample_blocks(format, 3, 512), format, dtype),
    ):
        return _launch(w, format, dtype)
    return dequantize_reference(w, format, dtype)


def dequantize_rows(w: mx.array, ids: mx.array, format: int, dtype: mx.Dtype = mx.float32) -> mx.array:
    """Rows `ids` (int32, any shape, each in range) of `w` uint8 [rows, row_bytes] -> [*ids.shape, K] of `dtype`."""
    if metal.trusted(
        ("dequantize_rows", int(format), dtype, *metal.few(ids)),
        _launch_rows,
        dequantize_rows_reference,
        lambda: (sample_blocks(format, 3, 512), mx.array([2, 0, 1] * min(ids.size, 3), mx.int32), format, dtype),
    ):
        return _launch_rows(w, ids, format, dtype)
    return dequantize_rows_reference(w, ids, format, dtype)


def dequantize_rows_reference(w, ids, format, dtype=mx.float32):
    """`dequantize_rows` in plain MLX."""
    rows = dequantize_reference(w[ids.reshape(-1)], format, dtype)
    return rows.reshape(*ids.shape, rows.shape[1])


def _launch(w, format, dtype):
    k = columns(w, format)
    return metal.load("dequantize.metal")["dequantize"](
        [w],
        grid=(k // FORMATS[int(format)].unit, w.shape[0], 1),
        threadgroup=(THREADS, 1, 1),
        outputs=[((w.shape[0], k), dtype)],
        FORMAT=int(format),
        T=dtype,
    )[0]


def _launch_rows(w, ids, format, dtype):
    k = columns(w, format)
    (y,) = metal.load("dequantize.metal")["dequantize_rows"](
        [w, ids.reshape(-1).astype(mx.int32)],
        grid=(k // FORMATS[int(format)].unit, ids.size, 1),
        threadgroup=(THREADS, 1, 1),
        outputs=[((ids.size, k), dtype)],
        FORMAT=int(format),
        T=dtype,
    )
    return y.reshape(*ids.shape, k)
