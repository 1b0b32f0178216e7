"""GGML's block formats, taken apart: bytes -> small integers with a scale and an offset per group -> exact floats.

Every format here is affine in groups: weight = scale * q + offset, with q an unsigned integer of a few bits. In
float32 that gives the very numbers of ggml's reference, since no product needs more than 24 bits and the one sum
rounds as theirs does.

All of it is MLX operations, so it runs on the GPU inside a graph as well as on the CPU (where it is twice as fast as
NumPy: 0.5 to 1.5 ns a weight). Knows formats only: not how a model keeps its weights, nor how they are multiplied.

Source: the formats as `gguf.quants` documents them in code. Bytes of a block, in order (h: two bytes, float16):
Q4_0 d:h qs:16 | Q4_1 d:h m:h qs:16 | Q5_0 d:h qh:4 qs:16 | Q5_1 d:h m:h qh:4 qs:16 | Q8_0 d:h qs:32 (32 weights each)
Q2_K scales:16 qs:64 d:h dmin:h | Q3_K hmask:32 qs:64 scales:12 d:h | Q4_K d:h dmin:h scales:12 qs:128
Q5_K d:h dmin:h scales:12 qh:32 qs:128 | Q6_K ql:128 qh:64 scales:16 d:h (256 weights each)
"""

from __future__ import annotations

from typing import NamedTuple

import mlx.core as mx
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

_T = GGMLQuantizationType
_EACH, _PAIRS = tuple(range(8)), (0, 2, 4, 6)  # where fields of one bit, of two bits, begin in a byte
FLOATS = frozenset({_T.F32, _T.F16, _T.BF16})


class Groups(NamedTuple):
    """Rows taken apart: weight = scale * q + offset.

    q: uint8 [rows, columns], of so many bits; scale, offset: float32 [rows, columns / size], one for `size` columns."""

    q: mx.array
    scale: mx.array
    offset: mx.array
    bits: int
    size: int


def decode(data: mx.array, kind: GGMLQuantizationType) -> mx.array:
    """Rows of `kind`, uint8 [rows, row_bytes] -> float32 [rows, columns], exactly."""
    if kind in FLOATS:
        return _floats(data, kind)
    g = unpack(data, kind)
    q = g.q.reshape(*g.scale.shape, g.size).astype(mx.float32)
    return (q * g.scale[..., None] + g.offset[..., None]).reshape(data.shape[0], -1)


def decode_host(data: np.ndarray, kind: GGMLQuantizationType, out: np.ndarray) -> None:
    """As `decode`, from and into NumPy's memory; any thread may call it."""
    if kind in FLOATS:
        if kind is _T.BF16:
            out.view(np.uint32)[...] = data.view(np.uint16)
            np.left_shift(out.view(np.uint32), 16, out=out.view(np.uint32))
        else:
            np.copyto(out, data.view(np.float16 if kind is _T.F16 else np.float32))
        return
    if kind is _T.Q8_0:  # a byte a weight: NumPy needs no steps between, and takes half of MLX's time
        blocks = data.reshape(-1, GGML_QUANT_SIZES[kind][1])
        values = out.reshape(len(blocks), -1)
        values[...] = blocks[:, 2:].view(np.int8)
        values *= blocks[:, :2].copy().view(np.float16).astype(np.float32)
        return
    made = decode(mx.array(data), kind)
    mx.eval(made)
    out[...] = np.asarray(made)


def unpack(data: mx.array, kind: GGMLQuantizationType) -> Groups:
    """Quantized rows, uint8 [rows, row_bytes], as integers, scales and offsets."""
    blocks = data.reshape(data.shape[0], -1, GGML_QUANT_SIZES[kind][1])
    q, scale, offset, bits, size = _UNPACK[kind](blocks)
    rows = data.shape[0]
    return Groups(q.reshape(rows, -1), scale.reshape(rows, -1), offset.reshape(rows, -1), bits, size)


def columns(row_bytes: int, kind: GGMLQuantizationType) -> int:
    """Weights in a row of so many bytes."""
    block, size = GGML_QUANT_SIZES[kind]
    return row_bytes // size * block


def _floats(data, kind):
    if kind == _T.F32:
        return data.view(mx.float32)
    if kind == _T.F16:
        return data.view(mx.float16).astype(mx.float32)
    return data.view(mx.bfloat16).astype(mx.float32)


def _half(blocks, at):
    """The float16 at byte `at` of every block, as float32 [rows, blocks, 1]."""
    return blocks[..., at : at + 2].view(mx.float16).astype(mx.float32)


def _nibbles(qs):
    """[..., n] bytes -> [..., 2n]: all the low halves, then all the high ones."""
    return mx.concatenate([qs & 15, qs >> 4], axis=-1)


def _shifted(values, shifts, mask):
    """Bit fields: (values >> shift) & mask for every shift, on a new axis before the last."""
    return (values[..., None, :] >> mx.array(shifts, dtype=mx.uint8)[:, None]) & mask


def _q4_0(b):
    d = _half(b, 0)
    return _nibbles(b[..., 2:18]), d, -8 * d, 4, 32


def _q4_1(b):
    return _nibbles(b[..., 4:20]), _half(b, 0), _half(b, 2), 4, 32


def _fifth_bits(qh):
    """4 bytes, a bit for each of 32 weights -> [..., 32] with that bit at 16."""
    bits = (qh[..., None] >> mx.arange(8, dtype=mx.uint8)) & 1
    return bits.reshape(*qh.shape[:-1], 32) << 4


def _q5_0(b):
    d = _half(b, 0)
    return _nibbles(b[..., 6:22]) | _fifth_bits(b[..., 2:6]), d, -16 * d, 5, 32


def _q5_1(b):
    return _nibbles(b[..., 8:24]) | _fifth_bits(b[..., 4:8]), _half(b, 0), _half(b, 2), 5, 32


def _q8_0(b):
    d = _half(b, 0)
    return b[..., 2:] ^ 128, d, -128 * d, 8, 32


def _six_bit_pairs(s):
    """12 bytes -> 8 scales and 8 minima of 6 bits, as Q4_K and Q5_K pack them."""
    scale = mx.concatenate([s[..., 0:4] & 63, (s[..., 8:12] & 15) | ((s[..., 0:4] >> 6) << 4)], axis=-1)
    least = mx.concatenate([s[..., 4:8] & 63, (s[..., 8:12] >> 4) | ((s[..., 4:8] >> 6) << 4)], axis=-1)
    return scale.astype(mx.float32), least.astype(mx.float32)


def _scaled_pairs(b):
    scale, least = _six_bit_pairs(b[..., 4:16])
    return _half(b, 0) * scale, -(_half(b, 2) * least)


def _q4_k(b):
    qs = b[..., 16:144].reshape(*b.shape[:-1], 4, 32)
    return _nibbles(qs), *_scaled_pairs(b), 4, 32


def _q5_k(b):
    low = _nibbles(b[..., 48:176].reshape(*b.shape[:-1], 4, 32)).reshape(*b.shape[:-1], 8, 32)
    high = _shifted(b[..., 16:48], _EACH, 1)
    return low | (high << 4), *_scaled_pairs(b), 5, 32


def _q6_k(b):
    halves = _nibbles(b[..., :128].reshape(*b.shape[:-1], 2, 64)).reshape(*b.shape[:-1], 2, 4, 32)
    high = _shifted(b[..., 128:192].reshape(*b.shape[:-1], 2, 32), _PAIRS, 3)
    scale = b[..., 192:208].view(mx.int8).astype(mx.float32) * _half(b, 208)
    return halves | (high << 4), scale, -32 * scale, 6, 16


def _q3_k(b):
    low = _shifted(b[..., 32:96].reshape(*b.shape[:-1], 2, 32), _PAIRS, 3).reshape(*b.shape[:-1], 8, 32)
    high = _shifted(b[..., 0:32], _EACH, 1)
    packed = b[..., 96:108]
    upper = _shifted(packed[..., 8:12], _PAIRS, 3).reshape(*b.shape[:-1], 16)
    six = _nibbles(packed[..., 0:8]) | (upper << 4)
    scale = (six.astype(mx.float32) - 32) * _half(b, 108)
    return low | (high << 2), scale, -4 * scale, 3, 16


def _q2_k(b):
    q = _shifted(b[..., 16:80].reshape(*b.shape[:-1], 2, 32), _PAIRS, 3)
    scale = (b[..., 0:16] & 15).astype(mx.float32) * _half(b, 80)
    least = (b[..., 0:16] >> 4).astype(mx.float32) * _half(b, 82)
    return q, scale, -least, 2, 16


_UNPACK = {
    _T.Q4_0: _q4_0,
    _T.Q4_1: _q4_1,
    _T.Q5_0: _q5_0,
    _T.Q5_1: _q5_1,
    _T.Q8_0: _q8_0,
    _T.Q2_K: _q2_k,
    _T.Q3_K: _q3_k,
    _T.Q4_K: _q4_k,
    _T.Q5_K: _q5_k,
    _T.Q6_K: _q6_k,
}
SUPPORTED = FLOATS | frozenset(_UNPACK)
