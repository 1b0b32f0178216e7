"""float32 rows -> K-quant blocks of 256 weights. Knows how their bytes lie (see `weights.blocks`), not how to choose
them.

Q2_K  16 groups of 16, w = d * s * q - dmin * m, q of 2 bits, s and m of 4    Q3_K  16 of 16, w = d * s * q, q -4 .. 3
Q4_K   8 groups of 32, the same with q of 4 bits, s and m of 6                Q6_K  16 of 16, q -32 .. 31, s of 8 bits
Q5_K   8 groups of 32, q of 5 bits                                                  (Q3_K: s of 6 bits, -32 .. 31)
"""

from __future__ import annotations

import numpy as np
from gguf.constants import GGMLQuantizationType

from .fitting import affine, symmetric

_T = GGMLQuantizationType
BLOCK = 256


def quantize(x: np.ndarray, kind: GGMLQuantizationType) -> np.ndarray:
    """x float32 [rows, columns], columns a multiple of 256 -> uint8 [rows, row_bytes]."""
    pack, size, fit = _KINDS[kind]
    blocks = np.ascontiguousarray(x.reshape(-1, BLOCK // size, size).transpose(2, 1, 0))
    fitted = fit(blocks)
    return pack(fitted).reshape(len(x), -1)


def _bytes(q, bias=0) -> np.ndarray:
    """[weights, groups, blocks] -> uint8 [blocks, 256], in the order of the row."""
    return np.ascontiguousarray((q + np.float32(bias)).astype(np.uint8).transpose(2, 1, 0)).reshape(-1, BLOCK)


def _small(values, kind=np.uint8) -> np.ndarray:
    """[groups, blocks] -> [blocks, groups]."""
    return np.ascontiguousarray(values.T).astype(kind)


def _halves(value) -> np.ndarray:
    """float16 [blocks] -> its bytes [blocks, 2]."""
    return value.reshape(-1, 1).view(np.uint8)


def _fields(q, width, per_byte) -> np.ndarray:
    """Fields of `width` bits, as K-quants share bytes: a run of 32 weights in the lowest, the next 32 above, ..."""
    parts = q.reshape(len(q), -1, per_byte, 32)
    packed = parts[:, :, 0].copy()
    for i in range(1, per_byte):
        packed |= parts[:, :, i] << (width * i)
    return packed.reshape(len(q), -1)


def _six_bit_pairs(scales, minima) -> np.ndarray:
    """8 scales and 8 minima of 6 bits -> 12 bytes."""
    high = lambda v: (v[:, 4:] >> 4) << 6
    return np.concatenate(
        [scales[:, :4] | high(scales), minima[:, :4] | high(minima), (scales[:, 4:] & 15) | (minima[:, 4:] & 15) << 4],
        1,
    )


def _q2_k(f) -> np.ndarray:
    scales = _small(f.scales) | _small(f.minima) << 4
    return np.concatenate([scales, _fields(_bytes(f.q), 2, 4), _halves(f.scale), _halves(f.minimum)], 1)


def _q3_k(f) -> np.ndarray:
    q, s = _bytes(f.q, 4), _small(f.scales + np.float32(32))
    low = (s[:, :8] & 15) | (s[:, 8:] & 15) << 4
    high = sum((s[:, 4 * i : 4 * i + 4] >> 4) << (2 * i) for i in range(4))
    return np.concatenate([_fields(q >> 2, 1, 8), _fields(q & 3, 2, 4), low, high, _halves(f.scale)], 1)


def _q4_k(f) -> np.ndarray:
    pairs = _six_bit_pairs(_small(f.scales), _small(f.minima))
    return np.concatenate([_halves(f.scale), _halves(f.minimum), pairs, _fields(_bytes(f.q), 4, 2)], 1)


def _q5_k(f) -> np.ndarray:
    q, pairs = _bytes(f.q), _six_bit_pairs(_small(f.scales), _small(f.minima))
    fields = _fields(q >> 4, 1, 8), _fields(q & 15, 4, 2)
    return np.concatenate([_halves(f.scale), _halves(f.minimum), pairs, *fields], 1)


def _q6_k(f) -> np.ndarray:
    q = _bytes(f.q, 32)
    low = q & 15
    low = low.reshape(-1, 2, 2, 64)  # of 128 weights the first 64 lie in the low halves, the others in the high ones
    low = (low[:, :, 0] | low[:, :, 1] << 4).reshape(len(q), -1)
    return np.concatenate([low, _fields(q >> 4, 2, 4), _small(f.scales, np.int8).view(np.uint8), _halves(f.scale)], 1)


_KINDS = {
    _T.Q2_K: (_q2_k, 16, lambda x: affine(x, 3, 15)),
    _T.Q3_K: (_q3_k, 16, lambda x: symmetric(x, -4, 3, -32, 31, reach=1)),
    _T.Q4_K: (_q4_k, 32, lambda x: affine(x, 15, 63)),
    _T.Q5_K: (_q5_k, 32, lambda x: affine(x, 31, 63)),
    _T.Q6_K: (_q6_k, 16, lambda x: symmetric(x, -32, 31, -128, 127, reach=6)),
}
KINDS = frozenset(_KINDS)
