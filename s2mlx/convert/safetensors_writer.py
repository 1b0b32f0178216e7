"""Names, types and shapes -> the header of a safetensors file (see `weights.safetensors_file`); the data follow it."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable

_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "U32": 4}
_ALIGNMENT = 64  # of the first byte of data: readers may then map what begins at multiples of their words


def header(tensors: Iterable[tuple[str, str, tuple[int, ...]]]) -> tuple[bytes, int]:
    """(everything before the data, bytes of data). tensors: name, type, shape; their data follow without gaps."""
    entries: dict[str, dict[str, object]] = {"__metadata__": {"format": "mlx"}}
    at = 0
    for name, dtype, shape in tensors:
        end = at + math.prod(shape) * _BYTES[dtype]
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    return struct.pack("<Q", len(text)) + text, at
