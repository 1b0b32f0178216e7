"""Arrays as .npy files: frames written, any plain array read without trusting the file.

NumPy's own reader maps what the header claims before it has looked at it: an item size of 0 ends the process. So here
the header is read by a pattern, held against what a plain array can be, and only then believed.

Layout: "\\x93NUMPY", major, minor, length of the header (u16, from version 2 on u32; little-endian), the header as a
Python dictionary of `descr`, `fortran_order` and `shape`, the numbers.
"""

from __future__ import annotations

import io
import math
import os
import re
from typing import BinaryIO, Literal

import numpy as np

from ..errors import S2Error, reason
from .regular import open_regular

LARGEST = 1 << 30  # bytes of numbers: days of frames, hours of sound; more is a mistake
_MAGIC = b"\x93NUMPY"
_MOST_HEADER = 10_000  # NumPy's own limit
_PIECE = 1 << 20
_ENTRY = re.compile(
    r"""\s*(['"])(?:descr\1\s*:\s*(?P<quote>['"])(?P<type>[^'"]*)(?P=quote)"""
    r"""|fortran_order\1\s*:\s*(?P<order>True|False)"""
    r"""|shape\1\s*:\s*\((?P<shape>(?:\s*\d{1,18}L?\s*,)*(?:\s*\d{1,18}L?)?\s*)\))\s*(?:,|$)"""
)
_TYPE = re.compile(r"(?:[<>|=]?[iu]1|[<>=]?(?:[iu][248]|f[248]))")


def npy_bytes(codes: np.ndarray) -> bytes:
    """The bytes of a file of frames, int32 [num_codebooks, frames]."""
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(codes, dtype=np.int32), allow_pickle=False)
    return file.getvalue()


def read_npy(source: str | os.PathLike[str] | BinaryIO, name: str | None = None) -> np.ndarray:
    """The integers or floats of a .npy file, of any shape, perhaps empty, in this machine's byte order.

    source: a path, or an open binary file (a pipe will do; under a path none is read). name: what errors call it.
    Raises `S2Error`, one line.
    """
    try:
        if isinstance(source, (str, os.PathLike)):
            name = name or os.fspath(source)
            with open_regular(source) as file:
                return _read(file, name)
        return _read(source, name or "the .npy file")
    except (OSError, ValueError) as fault:  # a ValueError is a name that no file can have
        raise S2Error(f"cannot read {name}: {reason(fault)}") from fault


def _read(file: BinaryIO, name: str) -> np.ndarray:
    dtype, shape, order = _header(file, name)
    size = math.prod(shape) * dtype.itemsize
    if max((size, *shape)) > LARGEST:
        raise S2Error(f"{name} claims {dtype} {list(shape)}: more than the {LARGEST >> 30} GB that are read")
    data = bytearray()
    while len(data) < size and (piece := file.read(min(_PIECE, size - len(data)))):
        data += piece
    if len(data) < size:
        raise S2Error(f"{name} is cut off: its {dtype} {list(shape)} take {size} bytes, and {len(data)} are there")
    if file.read(1):
        raise S2Error(f"{name} is damaged: it goes on behind its {dtype} {list(shape)}")
    numbers = np.frombuffer(data, dtype).reshape(shape, order=order)
    return numbers.astype(dtype.newbyteorder("="), copy=False)


def _header(file: BinaryIO, name: str) -> tuple[np.dtype, tuple[int, ...], Literal["C", "F"]]:
    """Type, shape and order ("C" or "F") of the numbers that follow."""
    start = file.read(8)
    if start.startswith(b"PK\3\4"):
        raise S2Error(f"{name} is a ZIP archive, such as .npz; a .npy file of one array is wanted")
    if len(start) < 8 or start[:6] != _MAGIC:
        raise S2Error(f"{name} is not a .npy file, or is damaged")
    if start[6] not in (1, 2, 3):
        raise S2Error(f"{name} is a .npy file of version {start[6]}; versions 1 to 3 are read")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(lengths := file.read(width), "little")
    text = file.read(min(length, _MOST_HEADER))
    if len(lengths) < width or len(text) < length:
        raise S2Error(f"{name} is not a .npy file of an array, or is damaged: its header is cut off or too long")
    return _believed(text.decode("latin-1").strip(), name)


def _believed(header: str, name: str) -> tuple[np.dtype, tuple[int, ...], Literal["C", "F"]]:
    found: dict[str, str] = {}
    inside, at, times = header[1:-1].strip(), 0, 0
    if header[:1] + header[-1:] == "{}":
        while entry := _ENTRY.match(inside, at):
            found |= {key: value for key, value in entry.groupdict().items() if value is not None and key != "quote"}
            at, times = entry.end(), times + 1
    if at < len(inside) or times != 3 or len(found) != 3:
        raise S2Error(f"{name} is not a .npy file of plain numbers, or is damaged: its header says no type and shape")
    if not _TYPE.fullmatch(found["type"]):
        raise S2Error(f"{name} holds values of the type {found['type']!r:.40}; integers and floats are read")
    shape = tuple(int(n.strip().rstrip("L")) for n in found["shape"].split(",") if n.strip())
    if len(shape) > 32:
        raise S2Error(f"{name} claims {len(shape)} dimensions")
    order: Literal["C", "F"] = "F" if found["order"] == "True" else "C"
    return np.dtype(found["type"]), shape, order
