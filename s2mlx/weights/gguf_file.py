"""A GGUF file, versions 2 and 3, read without trusting it.

The file is memory-mapped; the header is checked in full before anything of it is used: magic, version, counts against
the bytes that are there, every length, name, dimension and offset. Whatever is wrong becomes one `ModelError` that
names the file and the key or tensor. Knows the container only: not what the keys mean, not how blocks are coded.

Layout (little-endian): "GGUF", u32 version, u64 tensors, u64 keys; keys: string, u32 type, value; tensors: string,
u32 dims, u64 dim[dims] (fastest first), u32 type, u64 offset; padding; data. A string is u64 length + UTF-8.
"""

from __future__ import annotations

import math
import mmap
import struct
from pathlib import Path
from typing import NoReturn

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGUF_DEFAULT_ALIGNMENT, GGUF_MAGIC, GGMLQuantizationType, GGUFValueType

from ..errors import ModelError
from .mapped import MappedFile, Region
from .tensor import Tensor

# Far above any real model (S2 Pro's header is about 60 kB), far below what could hurt.
MAX_HEADER = 64 << 20
MAX_NAME = 1024
MAX_DIMS = 4
# The least bytes a key (length, one character, type, one-byte value) and a tensor (length, one character, one
# dimension, type, offset) can take: they bound the two counts before any loop runs.
MIN_KEY, MIN_TENSOR = 8 + 1 + 4 + 1, 8 + 1 + 4 + 8 + 4 + 8

_V = GGUFValueType
_CODES = {
    _V.UINT8: "<u1",
    _V.INT8: "<i1",
    _V.UINT16: "<u2",
    _V.INT16: "<i2",
    _V.UINT32: "<u4",
    _V.INT32: "<i4",
    _V.FLOAT32: "<f4",
    _V.BOOL: "?",
    _V.UINT64: "<u8",
    _V.INT64: "<i8",
    _V.FLOAT64: "<f8",
}
_SCALARS = {kind: np.dtype(code) for kind, code in _CODES.items()}


class GGUFFile:
    """An open, checked GGUF file.

    metadata: key -> int, float, bool, str, or numpy array of numbers; arrays of strings (vocabularies) are passed over.
    raw_keys: key -> its type and value as they stand in the file, for who writes them again.
    tensors: name -> Tensor, in the file's order.
    """

    def __init__(self, path):
        self.file = MappedFile(path)
        cursor = _Cursor(self.file.map, self.file.path)
        version, tensors, keys = _preamble(cursor)
        self.version = version
        self.metadata, self.raw_keys = _read_metadata(cursor, keys)
        infos = _read_infos(cursor, tensors)
        self.tensors = _place(self.file, cursor, infos, _alignment(cursor, self.metadata))


class _Cursor:
    """Reads forward through the header and refuses to step outside of it."""

    def __init__(self, buffer: mmap.mmap, path: Path):
        self.buffer, self.path, self.at = buffer, path, 0
        self.size = len(buffer)
        self.limit = min(self.size, MAX_HEADER)

    def fail(self, reason: str) -> NoReturn:
        raise ModelError(f"{self.path}: damaged GGUF file: {reason}")

    def take(self, length: int, what: str) -> bytes:
        begin = self.at
        if length > self.limit - begin:
            self.fail(
                f"the file ends inside {what}"
                if begin + length > self.size
                else f"its header is larger than {MAX_HEADER >> 20} MiB (at {what})"
            )
        self.at = begin + length
        return self.buffer[begin : self.at]

    def u32(self, what) -> int:
        return int.from_bytes(self.take(4, what), "little")

    def u64(self, what) -> int:
        return int.from_bytes(self.take(8, what), "little")

    def string(self, what) -> str:
        try:
            return self.take(self.u64(what), what).decode()
        except UnicodeDecodeError:
            self.fail(f"{what} is not UTF-8 text")

    def name(self, what) -> str:
        begin = self.at
        length = self.u64(what)
        if not 0 < length <= MAX_NAME:
            self.fail(f"{what} has {length} characters")
        self.at = begin
        return self.string(what)


def _preamble(cursor) -> tuple[int, int, int]:
    """Version and the two counts, each possible in a file of this size."""
    if cursor.size < 4 or struct.unpack_from("<I", cursor.buffer)[0] != GGUF_MAGIC:
        raise ModelError(f"{cursor.path}: not a GGUF file (it does not begin with 'GGUF')")
    cursor.at = 4
    version = cursor.u32("the version")
    if version not in (2, 3):
        kind = "big-endian" if version & 0xFFFF == 0 else f"version {version}"
        raise ModelError(f"{cursor.path}: {kind} GGUF files are not supported; versions 2 and 3, little-endian, are")
    tensors, keys = cursor.u64("the tensor count"), cursor.u64("the key count")
    left = cursor.size - cursor.at
    if keys > left // MIN_KEY:
        cursor.fail(f"it claims {keys} metadata keys, more than fit in it")
    if tensors > left // MIN_TENSOR:
        cursor.fail(f"it claims {tensors} tensors, more than fit in it")
    return version, tensors, keys


def _read_metadata(cursor, count) -> tuple[dict, dict[str, bytes]]:
    metadata, raw = {}, {}
    for i in range(count):
        key = cursor.name(f"the name of key {i}")
        what = f"key {key!r}"
        if key in metadata:
            cursor.fail(f"{what} appears twice")
        begin = cursor.at
        metadata[key] = _read_value(cursor, cursor.u32(what), what)
        raw[key] = cursor.buffer[begin : cursor.at]
    return {key: value for key, value in metadata.items() if value is not None}, raw


def _read_value(cursor, kind, what):
    if kind == _V.STRING:
        return cursor.string(what)
    if kind == _V.ARRAY:
        return _read_array(cursor, what)
    dtype = _scalar(cursor, kind, what)
    return np.frombuffer(cursor.take(dtype.itemsize, what), dtype)[0].item()


def _read_array(cursor, what) -> np.ndarray | None:
    kind, count = cursor.u32(what), cursor.u64(what)
    if kind == _V.ARRAY:
        cursor.fail(f"{what} is an array of arrays")
    if kind == _V.STRING:
        if count > (cursor.size - cursor.at) // 8:
            cursor.fail(f"{what} claims {count} strings, more than fit in the file")
        for _ in range(count):
            cursor.take(cursor.u64(what), what)
        return None
    dtype = _scalar(cursor, kind, what)
    return np.frombuffer(cursor.take(count * dtype.itemsize, what), dtype)


def _scalar(cursor, kind, what) -> np.dtype:
    if kind not in _SCALARS:
        cursor.fail(f"{what} has the unknown value type {kind}")
    return _SCALARS[_V(kind)]


def _alignment(cursor, metadata) -> int:
    value = metadata.get("general.alignment", GGUF_DEFAULT_ALIGNMENT)
    if type(value) is not int or not 1 <= value <= 1 << 20 or value & (value - 1):
        cursor.fail(f"general.alignment is {value!r}, not a power of two")
    return value


def _read_infos(cursor, count) -> list[tuple]:
    """(name, dims fastest first, type, offset in the data section) of each tensor."""
    infos, seen = [], set()
    for i in range(count):
        name = cursor.name(f"the name of tensor {i}")
        what = f"tensor {name!r}"
        if name in seen:
            cursor.fail(f"{what} appears twice")
        seen.add(name)
        rank = cursor.u32(what)
        if not 1 <= rank <= MAX_DIMS:
            cursor.fail(f"{what} has {rank} dimensions")
        dims = [cursor.u64(what) for _ in range(rank)]
        infos.append((name, dims, cursor.u32(what), cursor.u64(what)))
    return infos


def _place(file, cursor, infos, alignment) -> dict[str, Tensor]:
    """Bytes of each tensor, all inside the file, aligned, and none over another."""
    base = -(-cursor.at // alignment) * alignment
    tensors: dict[str, Tensor] = {}
    places: list[tuple[int, int, str]] = []
    for name, dims, kind, offset in infos:
        what = f"tensor {name!r}"
        try:
            kind = GGMLQuantizationType(kind)
            block, block_bytes = GGML_QUANT_SIZES[kind]
        except (ValueError, KeyError):
            raise ModelError(f"{cursor.path}: {what} has the unknown type {int(kind)}") from None
        if 0 in dims:
            cursor.fail(f"{what} has a dimension of 0")
        if dims[0] % block:
            cursor.fail(f"{what}: rows of {dims[0]} elements are no whole number of {kind.name} blocks ({block})")
        begin, size = base + offset, math.prod(dims) // block * block_bytes
        if offset % alignment:
            cursor.fail(f"{what} begins at {offset}, not a multiple of {alignment}")
        if begin + size > cursor.size:
            cursor.fail(
                f"{what} needs bytes {begin} to {begin + size} but the file has {cursor.size}; download it again"
            )
        tensors[name] = Tensor(name, tuple(reversed(dims)), kind, Region(file, begin, begin + size))
        places.append((begin, begin + size, name))
    places.sort()
    for (_, end, before), (begin, _, name) in zip(places, places[1:]):
        if begin < end:
            cursor.fail(f"tensor {name!r} overlaps tensor {before!r}")
    return tensors
