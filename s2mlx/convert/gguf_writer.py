"""Keys and tensors -> a GGUF file, version 3. Knows the container (see `weights.gguf_file`), not what is in it."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from gguf.constants import GGUF_DEFAULT_ALIGNMENT, GGUF_MAGIC, GGUFValueType

_V = GGUFValueType
VERSION = 3


def value(x) -> bytes:
    """A key's type and value: bool, int (32 bits, signed if negative), float, text, or a sequence of whole numbers."""
    if isinstance(x, bool):
        return struct.pack("<I?", _V.BOOL, x)
    if isinstance(x, int):
        return struct.pack("<Ii" if x < 0 else "<II", _V.INT32 if x < 0 else _V.UINT32, x)
    if isinstance(x, float):
        return struct.pack("<If", _V.FLOAT32, x)
    if isinstance(x, str):
        return struct.pack("<I", _V.STRING) + _string(x)
    return struct.pack(f"<IIQ{len(x)}i", _V.ARRAY, _V.INT32, len(x), *x)


def header(keys: Mapping[str, bytes], tensors: Sequence[tuple[str, tuple[int, ...], int, int]]) -> bytes:
    """Everything before the data. keys: values as `value` makes them. tensors: name, shape (slowest first), type, size.

    The data follow in the same order, each `padding` bytes behind the one before.
    """
    parts = [struct.pack("<IIQQ", GGUF_MAGIC, VERSION, len(tensors), len(keys))]
    parts += [_string(key) + raw for key, raw in keys.items()]
    at = 0
    for name, shape, kind, size in tensors:
        parts.append(_string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, at))
        at += size + padding(size)
    whole = b"".join(parts)
    return whole + bytes(padding(len(whole)))


def padding(size: int) -> int:
    """Bytes up to the next aligned place."""
    return -size % GGUF_DEFAULT_ALIGNMENT


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
