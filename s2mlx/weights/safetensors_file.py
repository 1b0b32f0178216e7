"""A safetensors file, read without trusting it: names, shapes, types and where the bytes lie. Knows the container only.

Layout: u64 length of the header (little-endian), the header as JSON {name: {dtype, shape, data_offsets}}, the data.
"""

from __future__ import annotations

import json
import math

from gguf.constants import GGMLQuantizationType

from ..errors import ModelError
from .mapped import MappedFile, Region
from .tensor import Tensor

MAX_HEADER = 64 << 20
_TYPES = {
    "F32": (GGMLQuantizationType.F32, 4),
    "F16": (GGMLQuantizationType.F16, 2),
    "BF16": (GGMLQuantizationType.BF16, 2),
    "U32": (GGMLQuantizationType.I32, 4),
}  # words of packed integers


def read_safetensors(path) -> dict[str, Tensor]:
    """Name -> tensor, for those of a type that this engine reads (floats, and words as I32); others are passed over."""
    file = MappedFile(path)
    size = len(file.bytes)
    length = int.from_bytes(file.map[:8], "little")
    if size < 8 or length > min(size - 8, MAX_HEADER):
        raise ModelError(f"{path}: not a safetensors file, or cut off in its header; download it again")
    try:
        header = json.loads(file.map[8 : 8 + length])
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise ModelError(f"{path}: damaged safetensors file: its header is not a JSON object")
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        if isinstance(entry, dict) and isinstance(dtype := entry.get("dtype"), str) and dtype in _TYPES:
            found[name] = _tensor(file, name, entry, 8 + length)
    return found


def _tensor(file, name, entry, base) -> Tensor:
    kind, width = _TYPES[entry["dtype"]]
    shape, offsets = entry.get("shape"), entry.get("data_offsets")
    whole = lambda values, least: isinstance(values, list) and all(type(v) is int and v >= least for v in values)
    if not (whole(shape, 1) and 1 <= len(shape) <= 4 and whole(offsets, 0) and len(offsets) == 2):
        raise ModelError(f"{file.path}: tensor {name!r} has no possible shape and offsets")
    begin, end = (base + offset for offset in offsets)
    if end - begin != math.prod(shape) * width:
        raise ModelError(f"{file.path}: tensor {name!r}: {end - begin} bytes cannot hold {entry['dtype']} {shape}")
    if end > len(file.bytes):
        raise ModelError(f"{file.path}: tensor {name!r} lies beyond the end of the file; download it again")
    return Tensor(name, tuple(shape), kind, Region(file, begin, end))
