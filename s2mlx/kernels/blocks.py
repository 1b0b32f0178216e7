"""The GGUF formats that the kernels read. Knows no kernel; how a block becomes numbers in plain MLX is
`weights.blocks`'s.

Weights are the file's own bytes, `uint8 [rows, row_bytes]`; a format is named by `gguf.GGMLQuantizationType` or its
number. Of floats 16 count as a block.
"""

from __future__ import annotations

from typing import NamedTuple

import mlx.core as mx
import numpy as np
from gguf.constants import GGMLQuantizationType

from ..weights.block_formats import decode


class Format(NamedTuple):
    """Bytes and weights of one block."""

    name: str
    bytes: int
    weights: int

    @property
    def unit(self) -> int:
        """Weights that one thread opens at a time."""
        return min(self.weights, 32)


FORMATS = {
    0: Format("F32", 64, 16),
    1: Format("F16", 32, 16),
    30: Format("BF16", 32, 16),
    8: Format("Q8_0", 34, 32),
    10: Format("Q2_K", 84, 256),
    11: Format("Q3_K", 110, 256),
    12: Format("Q4_K", 144, 256),
    13: Format("Q5_K", 176, 256),
    14: Format("Q6_K", 210, 256),
}


def readable(row_bytes: int, format: int) -> bool:
    """Whether the kernels can read rows of so many bytes of this format."""
    return int(format) in FORMATS and row_bytes % FORMATS[int(format)].bytes == 0


def columns(w: mx.array, format: int) -> int:
    """Weights in a row of `w` [rows, row_bytes]."""
    f = FORMATS[int(format)]
    return w.shape[1] // f.bytes * f.weights


def dequantize_reference(w: mx.array, format: int, dtype: mx.Dtype = mx.float32) -> mx.array:
    """`w` uint8 [rows, row_bytes] -> [rows, K]; float32 values equal `gguf.quants.dequantize`."""
    return decode(mx.contiguous(w), GGMLQuantizationType(int(format))).astype(dtype)


def sample_blocks(format: int, rows: int, k: int, seed: int = 0) -> mx.array:
    """Blocks [rows, row_bytes] with every bit in use and scales that keep weights near 1, but in every third block so
    small that they are subnormal halves, as real files have them: for tests and self-checks."""
    f = FORMATS[int(format)]
    random = np.random.default_rng(seed)
    if f.name in _FLOATS:
        values = mx.array(random.normal(size=(rows, k)).astype(np.float32)).astype(_FLOATS[f.name])
        return values.view(mx.uint8)
    raw = random.integers(0, 256, (rows, k // f.weights, f.bytes), dtype=np.uint8)
    small = (np.arange(rows)[:, None, None] + np.arange(raw.shape[1])[None, :, None]) % 3 == 2
    for at, size in _SCALES[f.name]:
        scale = random.uniform(0.5, 1, (*raw.shape[:2], 1)) * np.where(small, 2.0**-15, size)
        raw[..., at : at + 2] = scale.astype(np.float16).view(np.uint8)
    return mx.array(raw.reshape(rows, -1))


_FLOATS = {"F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16}
# (byte, size that keeps weights near 1) of each float16 in a block
_SCALES = {
    "Q8_0": [(0, 1 / 64)],
    "Q2_K": [(80, 1 / 24), (82, 1 / 16)],
    "Q3_K": [(108, 1 / 64)],
    "Q4_K": [(0, 1 / 256), (2, 1 / 32)],
    "Q5_K": [(0, 1 / 512), (2, 1 / 32)],
    "Q6_K": [(208, 1 / 2048)],
}
