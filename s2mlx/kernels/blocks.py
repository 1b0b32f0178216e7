"""The GGUF block formats that the kernels read, and their weights in plain MLX operations. Knows no kernel.

Weights are the file's own bytes, `uint8 [rows, row_bytes]`; a format is named by `gguf.GGMLQuantizationType` or its
number.
"""

from __future__ import annotations

from typing import NamedTuple

import mlx.core as mx
import numpy as np


class Format(NamedTuple):
    """Bytes and weights of one block."""

    name: str
    bytes: int
    weights: int


FORMATS = {8: Format("Q8_0", 34, 32), 10: Format("Q2_K", 84, 256), 11: Format("Q3_K", 110, 256),
           12: Format("Q4_K", 144, 256), 13: Format("Q5_K", 176, 256), 14: Format("Q6_K", 210, 256)}


def columns(w: mx.array, format: int) -> int:
    """Weights in a row of `w` [rows, row_bytes]."""
    f = FORMATS[int(format)]
    return w.shape[1] // f.bytes * f.weights


def dequantize_reference(w: mx.array, format: int, dtype: mx.Dtype = mx.float32) -> mx.array:
    """`w` uint8 [rows, row_bytes] -> [rows, K]; float32 values equal `gguf.quants.dequantize`."""
    f = FORMATS[int(format)]
    blocks = mx.contiguous(w).reshape(-1, f.bytes)
    return _OPEN[f.name](blocks).reshape(w.shape[0], -1).astype(dtype)


def _half(b: mx.array, at: int) -> mx.array:
    """The float16 at a byte of each block [blocks, bytes] -> float32 [blocks, 1]."""
    return mx.contiguous(b[:, at:at + 2]).view(mx.float16).astype(mx.float32)


def _fields(b: mx.array, shifts: range, mask: int) -> mx.array:
    """Bytes [blocks, ..., n] -> their bit fields at each shift, [blocks, ..., len(shifts), n]."""
    return (b[..., None, :] >> mx.array(list(shifts), mx.uint8)[:, None]) & mask


def _flat(q: mx.array) -> mx.array:
    return q.reshape(q.shape[0], -1)


def _scaled(q: mx.array, scale: mx.array, minimum: mx.array | None = None) -> mx.array:
    """q [blocks, K] times its group's scale [blocks, groups], less its minimum."""
    q = q.astype(mx.float32).reshape(*scale.shape, -1)
    y = scale[..., None] * q
    return y if minimum is None else y - minimum[..., None]


def _q8_0(b):
    return mx.contiguous(b[:, 2:]).view(mx.int8).astype(mx.float32) * _half(b, 0)


def _q2_k(b):
    groups = b[:, :16]
    q = _flat(_fields(b[:, 16:80].reshape(-1, 2, 32), range(0, 8, 2), 3))
    return _scaled(q, _half(b, 80) * (groups & 15).astype(mx.float32), _half(b, 82) * (groups >> 4).astype(mx.float32))


def _q3_k(b):
    low = _flat(_fields(b[:, 32:96].reshape(-1, 2, 32), range(0, 8, 2), 3))
    high = _flat(_fields(b[:, :32], range(8), 1))
    scale = _flat(_fields(b[:, 96:104], range(0, 8, 4), 15)) | (_flat(_fields(b[:, 104:108], range(0, 8, 2), 3)) << 4)
    q = (low | (high << 2)).astype(mx.float32) - 4
    return _scaled(q, _half(b, 108) * (scale.astype(mx.float32) - 32))


def _scales_and_minima(b):
    """Of Q4_K and Q5_K: float32 [blocks, 8] each."""
    first, second, third = b[:, 4:8], b[:, 8:12], b[:, 12:16]
    scale = mx.concatenate([first & 63, (third & 15) | ((first >> 2) & 48)], axis=1)
    minimum = mx.concatenate([second & 63, (third >> 4) | ((second >> 2) & 48)], axis=1)
    return _half(b, 0) * scale.astype(mx.float32), _half(b, 2) * minimum.astype(mx.float32)


def _q4_k(b):
    return _scaled(_flat(_fields(b[:, 16:].reshape(-1, 4, 32), range(0, 8, 4), 15)), *_scales_and_minima(b))


def _q5_k(b):
    low = _flat(_fields(b[:, 48:].reshape(-1, 4, 32), range(0, 8, 4), 15))
    return _scaled(low | (_flat(_fields(b[:, 16:48], range(8), 1)) << 4), *_scales_and_minima(b))


def _q6_k(b):
    low = _fields(b[:, :128].reshape(-1, 2, 64), range(0, 8, 4), 15)           # [blocks, 2, 2, 64]
    high = _fields(b[:, 128:192].reshape(-1, 2, 32), range(0, 8, 2), 3)        # [blocks, 2, 4, 32]
    q = (_flat(low) | (_flat(high) << 4)).astype(mx.float32) - 32
    scale = mx.contiguous(b[:, 192:208]).view(mx.int8).astype(mx.float32)
    return _scaled(q, _half(b, 208) * scale)


_OPEN = {"Q8_0": _q8_0, "Q2_K": _q2_k, "Q3_K": _q3_k, "Q4_K": _q4_k, "Q5_K": _q5_k, "Q6_K": _q6_k}


def sample_blocks(format: int, rows: int, k: int, seed: int = 0) -> mx.array:
    """Blocks [rows, row_bytes] with every bit in use and scales that keep weights near 1: for tests and self-checks."""
    f = FORMATS[int(format)]
    random = np.random.default_rng(seed)
    raw = random.integers(0, 256, (rows, k // f.weights, f.bytes), dtype=np.uint8)
    for at, size in _SCALES[f.name]:
        raw[..., at:at + 2] = (random.uniform(0.5, 1, raw.shape[:2] + (1,)) * size).astype(np.float16).view(np.uint8)
    return mx.array(raw.reshape(rows, -1))


# (byte, size that keeps weights near 1) of each float16 in a block
_SCALES = {"Q8_0": [(0, 1 / 64)], "Q2_K": [(80, 1 / 24), (82, 1 / 16)], "Q3_K": [(108, 1 / 64)],
           "Q4_K": [(0, 1 / 256), (2, 1 / 32)], "Q5_K": [(0, 1 / 512), (2, 1 / 32)], "Q6_K": [(208, 1 / 2048)]}
