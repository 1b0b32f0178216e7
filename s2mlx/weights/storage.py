"""How a model's matrices are kept in memory: one plan for a whole checkpoint. Knows sizes and the machine only."""

from __future__ import annotations

import enum
import math
import os
from collections.abc import Mapping
from typing import NamedTuple

from gguf.constants import GGMLQuantizationType

from .. import device
from ..errors import ModelError
from . import affine

_T = GGMLQuantizationType
GROUPS_OF_16 = frozenset({_T.Q2_K, _T.Q3_K, _T.Q6_K})  # MLX has no product for these


class Storage(enum.Enum):
    """DENSE: float32 laid out [in, out], the fastest on the CPU.
    PACKED: as few bits as the file has, in the layout that MLX can multiply with where there is one.
    TABLE: the file's bits, for rows that are looked up; a matrix cut from it (the head: 4097 rows) is DENSE.
    RAW: the file's own blocks, for the Metal kernels."""

    DENSE = "dense"
    PACKED = "packed"
    TABLE = "table"
    RAW = "raw"


class Part(NamedTuple):
    """What the plan needs to know of a tensor. role: "matrix" (multiplied), "table" (looked up), "other" (floats)."""

    elements: int
    nbytes: int
    type: GGMLQuantizationType
    role: str

    @property
    def packed(self) -> int:
        """Bytes in memory when it is kept as small as MLX's own operations allow: on a GPU they cast as they go."""
        if self.role == "other" and not device.on_gpu():
            return 4 * self.elements
        if self.role == "matrix" and self.type in affine.KINDS:
            return self.elements * affine.BITS[self.type] // 8 + self.elements // affine.GROUP * 8
        return self.nbytes

    def kept(self, storage: Storage) -> int:
        """Bytes in memory when it is kept so."""
        if storage is Storage.DENSE:
            return 4 * self.elements
        return self.packed if storage is Storage.PACKED else self.nbytes


def plan(parts: Mapping[str, Part], memory_limit: int | None, path) -> dict[str, Storage]:
    """The form of every tensor.

    On a GPU: raw blocks if the kernels run here, else packed. On the CPU matrices become dense as far as
    `memory_limit` bytes of weights allow (None: half of the machine's memory), those first that gain most.
    Raises `ModelError` when not even the packed model fits. The plan depends on the file, the limit and the machine
    alone, so that a seed gives the same speech every time.
    """
    raw = device.kernels_available()
    least = sum(part.kept(Storage.RAW if raw else Storage.PACKED) for part in parts.values())
    most = machine_memory() if memory_limit is None else memory_limit
    if least > most:
        raise ModelError(
            f"{path}: the weights need {_size(least, math.ceil)} of memory, {_size(most, math.floor)} are "
            "allowed; use a smaller quantization"
        )
    if device.on_gpu():
        return dict.fromkeys(parts, Storage.RAW if raw else Storage.PACKED)
    return _densify(parts, (most // 2 if memory_limit is None else most) - least)


def _size(n: int, rounded) -> str:
    """Bytes in a unit that shows something."""
    unit, name = next(((u, name) for u, name in ((1e9, "GB"), (1e6, "MB")) if n >= u), (1e3, "kB"))
    return f"{rounded(n / unit * 10) / 10:.1f} {name}"


def _densify(parts, spare) -> dict[str, Storage]:
    forms = {name: Storage.TABLE if part.role == "table" else Storage.PACKED for name, part in parts.items()}
    for name in sorted((n for n in parts if parts[n].role == "matrix"), key=lambda n: _rank(n, parts[n])):
        cost = parts[name].kept(Storage.DENSE) - parts[name].kept(Storage.PACKED)
        if cost > spare:
            break
        spare -= cost
        forms[name] = Storage.DENSE
    return forms


def _rank(name: str, part: Part) -> int:
    """The Fast-AR's weights are read nine times a frame; groups of 16 must be decoded for each product."""
    if name.startswith("fast_"):
        return 0
    return 1 if part.type in GROUPS_OF_16 else 2


def machine_memory() -> int:
    """Bytes of memory this process can hope for: the machine's, or its container's if that is less."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/sys/fs/cgroup/memory.max") as file:
            return min(total, int(file.read()))
    except (OSError, ValueError):  # no such file, or "max"
        return total
