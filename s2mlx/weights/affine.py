"""Quantized blocks with groups of 32 -> MLX's packed affine layout, and back. Nothing is rounded on the way.

MLX packs the integers of a row as one little-endian stream of bits in uint32 words, and keeps a scale and an offset
("bias") for each group: `mx.quantized_matmul` reads that. Scales stay float32: in float16 the K-quants would change.
"""

from __future__ import annotations

import mlx.core as mx
from gguf.constants import GGMLQuantizationType

from .block_formats import unpack

_T = GGMLQuantizationType
BITS = {_T.Q4_0: 4, _T.Q4_1: 4, _T.Q5_0: 5, _T.Q5_1: 5, _T.Q8_0: 8, _T.Q4_K: 4, _T.Q5_K: 5}
KINDS = frozenset(BITS)
GROUP = 32


def pack(data: mx.array, kind: GGMLQuantizationType) -> tuple[mx.array, mx.array, mx.array]:
    """Rows of one of `KINDS`, uint8 [rows, row_bytes] -> words uint32 [rows, columns * bits / 32],
    scale and offset float32 [rows, columns / GROUP]."""
    g = unpack(data, kind)
    return _to_words(g.q, g.bits), mx.contiguous(g.scale), mx.contiguous(g.offset)


def values(words: mx.array, scale: mx.array, offset: mx.array, bits: int) -> mx.array:
    """float32 [rows, columns]. What `mx.dequantize` gives, five times as fast on the CPU."""
    q = _from_words(words, bits).reshape(*scale.shape, GROUP).astype(mx.float32)
    return (q * scale[..., None] + offset[..., None]).reshape(words.shape[0], -1)


def _to_words(q, bits):
    rows = q.shape[0]
    if bits == 4:
        q = q.reshape(rows, -1, 2)
        q = q[..., 0] | (q[..., 1] << 4)
    elif bits == 5:  # eight integers in five bytes
        v = [q.reshape(rows, -1, 8)[..., i] for i in range(8)]
        q = mx.stack(
            [
                v[0] | v[1] << 5,
                v[1] >> 3 | v[2] << 2 | v[3] << 7,
                v[3] >> 1 | v[4] << 4,
                v[4] >> 4 | v[5] << 1 | v[6] << 6,
                v[6] >> 2 | v[7] << 3,
            ],
            axis=-1,
        )
    return mx.contiguous(q.reshape(rows, -1)).view(mx.uint32)


def _from_words(words, bits):
    rows, q = words.shape[0], words.view(mx.uint8)
    if bits == 4:
        q = mx.stack([q & 15, q >> 4], axis=-1)
    elif bits == 5:
        b = [q.reshape(rows, -1, 5)[..., i] for i in range(5)]
        q = (
            mx.stack(
                [
                    b[0],
                    b[0] >> 5 | b[1] << 3,
                    b[1] >> 2,
                    b[1] >> 7 | b[2] << 1,
                    b[2] >> 4 | b[3] << 4,
                    b[3] >> 1,
                    b[3] >> 6 | b[4] << 2,
                    b[4] >> 3,
                ],
                axis=-1,
            )
            & 31
        )
    return q.reshape(rows, -1)
