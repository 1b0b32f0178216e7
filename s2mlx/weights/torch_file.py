"""A `.pth` file of tensors, read without torch and without running anything that is in it.

Such a file is an uncompressed zip: `NAME/data.pkl`, a pickle that describes the tensors (see `pickled`), and
`NAME/data/0`, `/1`, ..., their numbers.
"""

from __future__ import annotations

import math
import struct
import zipfile
from typing import Any

from gguf.constants import GGMLQuantizationType

from ..errors import ModelError
from .mapped import MappedFile, Region
from .pickled import Stored, read_pickle
from .tensor import Tensor

# S2's codec is described in about 100 kB: some 500 tensors, one dictionary in another.
MAX_PICKLE = 4 << 20
MAX_TENSORS, MAX_NAME, MAX_DEPTH = 1 << 16, 1024, 16
_STORAGES = {
    "FloatStorage": (GGMLQuantizationType.F32, 4),
    "HalfStorage": (GGMLQuantizationType.F16, 2),
    "BFloat16Storage": (GGMLQuantizationType.BF16, 2),
}


def read_torch(path) -> dict[str, Tensor]:
    """Name -> tensor for all contiguous tensors of a floating type in the (perhaps nested) state dictionary."""
    file = MappedFile(path)
    members = _directory(path)
    pickled = [name for name in members if name.endswith("/data.pkl")]
    if len(pickled) != 1 or members[pickled[0]].file_size > MAX_PICKLE:
        raise ModelError(f"{path}: no checkpoint that torch.save wrote (no data.pkl of a possible size)")
    begin, end = _extent(file, members[pickled[0]], "data.pkl")
    described = _described(file.map[begin:end], path)
    root = pickled[0].removesuffix("data.pkl") + "data/"
    return {
        name: _locate(file, members.get(root + stored.key), name, stored)
        for name, stored in described
        if stored.storage in _STORAGES
    }


def _directory(path) -> dict[str, zipfile.ZipInfo]:
    """What the zip says it holds. Its entries are not read by `zipfile`: they are mapped."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {info.filename: info for info in archive.infolist()}
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError, struct.error) as error:
        raise ModelError(f"{path}: damaged, or not a checkpoint in torch's zip format: {error}") from None


def _described(data: bytes, path) -> list[tuple[str, Stored]]:
    """(dotted name, tensor) of nested dictionaries."""
    try:
        state = read_pickle(data)
    except ValueError as error:
        reason = " ".join(str(error).split())[:120]
        raise ModelError(
            f"{path}: its pickle is damaged or holds more than tensors ({reason}); nothing of it was run"
        ) from None
    found: list[tuple[str, Stored]] = []
    entered: set[int] = set()
    waiting: list[tuple[int, str, str, Any]] = [(0, "", "", state)]
    while waiting:
        depth, prefix, key, value = waiting.pop()
        if len(prefix) + len(key) > MAX_NAME or depth > MAX_DEPTH or len(found) == MAX_TENSORS:
            raise ModelError(
                f"{path}: no state dictionary that can be read: more than {MAX_TENSORS} tensors, a name of more than "
                f"{MAX_NAME} characters, or dictionaries more than {MAX_DEPTH} deep"
            )
        if isinstance(value, Stored):
            found.append((prefix + key, value))
        elif isinstance(value, dict) and id(value) not in entered:
            entered.add(id(value))  # once: references can be made to multiply without end
            stem = prefix + key + "." if depth else ""
            waiting += [(depth + 1, stem, key, item) for key, item in value.items()]
    return found


def _locate(file, member, name, stored) -> Tensor:
    """The region of the file that holds the tensor, or `ModelError`."""

    def fail(reason):
        raise ModelError(f"{file.path}: tensor {name!r}: {reason}")

    kind, width = _STORAGES[stored.storage]
    numbers = (
        (stored.offset, *stored.shape, *stored.stride)
        if isinstance(stored.shape, tuple) and isinstance(stored.stride, tuple)
        else (None,)
    )
    if not all(type(n) is int and 0 <= n < 1 << 48 for n in numbers) or 0 in stored.shape or len(stored.shape) > 4:
        fail("impossible shape")
    if not _in_order(stored.shape, stored.stride):
        fail("its numbers are not in order; save the checkpoint with contiguous tensors")
    if member is None:
        fail("its data are missing")
    first, last = _extent(file, member, f"tensor {name!r}")
    begin = first + stored.offset * width
    end = begin + math.prod(stored.shape) * width
    if end > last:
        fail("its data are cut off; download the file again")
    return Tensor(name, stored.shape or (1,), kind, Region(file, begin, end))


def _in_order(shape, stride) -> bool:
    """Whether the numbers lie one after another (what a dimension of 1 says of its stride means nothing)."""
    step = 1
    for n, distance in zip(reversed(shape), reversed(stride)):
        if n > 1 and distance != step:
            return False
        step *= n
    return len(shape) == len(stride)


def _extent(file, member, what) -> tuple[int, int]:
    """Where an entry's data lie: behind its local header, whose two variable fields have lengths of their own."""
    header = file.map[member.header_offset : member.header_offset + 30]
    if member.compress_type != zipfile.ZIP_STORED:
        raise ModelError(f"{file.path}: {what} is compressed, which torch.save never does")
    if len(header) < 30 or header[:4] != b"PK\3\4":
        raise ModelError(f"{file.path}: {what}: damaged zip entry")
    begin = member.header_offset + 30 + sum(struct.unpack("<HH", header[26:30]))
    if begin + member.file_size > len(file.bytes):
        raise ModelError(f"{file.path}: {what} is cut off; download the file again")
    return begin, begin + member.file_size
