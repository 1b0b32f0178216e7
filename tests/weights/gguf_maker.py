"""Writes GGUF files for tests, good ones and, with a hand on the bytes, bad ones. Independent of `gguf`'s writer."""

import struct

import numpy as np
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType

T = GGMLQuantizationType
# Bytes of a block that hold f16 numbers: scale, and minimum (or None).
SCALES = {
    T.Q4_0: (0, None),
    T.Q4_1: (0, 2),
    T.Q5_0: (0, None),
    T.Q5_1: (0, 2),
    T.Q8_0: (0, None),
    T.Q2_K: (80, 82),
    T.Q3_K: (108, None),
    T.Q4_K: (0, 2),
    T.Q5_K: (0, 2),
    T.Q6_K: (208, None),
}
# minimum / scale that makes random blocks average to zero
CENTRE = {T.Q4_1: -7.5, T.Q5_1: -15.5, T.Q2_K: 1.5, T.Q4_K: 7.5, T.Q5_K: 15.5}


def string(text) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def value(x) -> bytes:
    """u32 type and value, the type after Python's: int -> u32 (i32 if negative), float -> f32, bool, str, list."""
    kind, body = _typed(x)
    return struct.pack("<I", kind) + body


def _typed(x):
    V = GGUFValueType
    if isinstance(x, bool):
        return V.BOOL, struct.pack("?", x)
    if isinstance(x, int):
        return (V.UINT32, struct.pack("<I", x)) if x >= 0 else (V.INT32, struct.pack("<i", x))
    if isinstance(x, float):
        return V.FLOAT32, struct.pack("<f", x)
    if isinstance(x, str):
        return V.STRING, string(x)
    items = [_typed(v) for v in x]
    kind = items[0][0] if items else V.UINT32
    return V.ARRAY, struct.pack("<IQ", kind, len(items)) + b"".join(body for _, body in items)


def tensor_info(name, shape, kind, offset) -> bytes:
    """`shape` slowest first, as PyTorch has it."""
    dims = tuple(reversed(shape))
    return string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


def gguf_bytes(metadata: dict, tensors, *, version=3, alignment=32, magic=b"GGUF") -> bytes:
    """A whole file. tensors: list of (name, shape, type, bytes)."""
    if alignment != 32:
        metadata = {**metadata, "general.alignment": alignment}
    keys = b"".join(string(key) + value(x) for key, x in metadata.items())
    infos, data = b"", bytearray()
    for name, shape, kind, body in tensors:
        infos += tensor_info(name, shape, kind, len(data))
        data += body + bytes(-len(body) % alignment)
    head = magic + struct.pack("<IQQ", version, len(tensors), len(metadata)) + keys + infos
    return head + bytes(-len(head) % alignment) + bytes(data)


def encode(values: np.ndarray, kind: T, rng) -> bytes:
    """Float values as blocks of `kind`. Types that `gguf` cannot quantize (K-quants) become random blocks with the
    spread of `values` instead: for tests any weights do, as long as they are known and tame."""
    values = np.ascontiguousarray(values, np.float32)
    if kind in (T.F32, T.F16, T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0):
        return quants.quantize(values, kind).tobytes()
    return random_blocks(values.reshape(-1, values.shape[-1]).shape, kind, rng, float(values.std())).tobytes()


def random_blocks(shape, kind: T, rng, std=1.0) -> np.ndarray:
    """Blocks of any bits with tame scales: uint8 [rows, row_bytes] whose values have about the deviation `std`."""
    rows, columns = shape
    block, size = GGML_QUANT_SIZES[kind]
    if kind in (T.F32, T.F16, T.BF16):
        return quants.quantize(rng.standard_normal(shape, np.float32) * np.float32(std), kind).view(np.uint8)
    raw = rng.integers(0, 256, (rows, columns // block, size), np.uint8)
    _set_scales(raw, kind, np.ones(raw.shape[:2]))
    spread = quants.dequantize(raw[:1].reshape(1, -1), kind).std()
    _set_scales(raw, kind, rng.uniform(0.7, 1.3, raw.shape[:2]) * std / spread)
    return raw.reshape(rows, -1)


def _set_scales(raw, kind, scale):
    at, minimum = SCALES[kind]
    raw[..., at : at + 2] = scale.astype(np.float16)[..., None].view(np.uint8)
    if minimum is not None:
        raw[..., minimum : minimum + 2] = (scale * CENTRE[kind]).astype(np.float16)[..., None].view(np.uint8)
