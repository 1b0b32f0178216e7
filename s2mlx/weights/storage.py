"""How a model's matrices are kept in memory: one plan for a whole checkpoint. Knows sizes and the machine only."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from gguf.constants import GGMLQuantizationType

from .. import device
from ..errors import ModelError
from . import affine, compiled, cores
from .layout import role
from .tensor import Storage, Tensor

_T = GGMLQuantizationType
GROUPS_OF_16 = frozenset({_T.Q2_K, _T.Q3_K, _T.Q6_K})  # MLX has no product for these


def kept(tensor: Tensor, storage: Storage) -> int:
    """Bytes in memory of a tensor that is kept so."""
    if storage is Storage.DENSE:
        return 4 * tensor.elements
    return _packed(tensor) if storage is Storage.PACKED else tensor.nbytes


def _packed(tensor: Tensor) -> int:
    """When it is kept as small as MLX's own operations allow: on a GPU they cast as they go."""
    use = role(tensor.name)
    if use == "other" and not device.on_gpu():
        return 4 * tensor.elements
    if use == "matrix" and tensor.type in affine.KINDS:
        return tensor.elements * affine.BITS[tensor.type] // 8 + tensor.elements // affine.GROUP * 8
    return tensor.nbytes


def plan(tensors: Mapping[str, Tensor], memory_limit: int | None, path) -> dict[str, Storage]:
    """The form of every tensor.

    On a GPU: raw blocks if the kernels run here, else packed. On the CPU the file's blocks if they are multiplied in
    machine code here; else matrices become dense as far as `memory_limit` bytes of weights allow (None: half of the
    machine's memory), those first that gain most.
    Raises `ModelError` when not even the packed model fits. The plan depends on the file, the limit and the machine
    alone, so that a seed gives the same speech every time.
    """
    raw = device.kernels_available()
    forms = {name: Storage.RAW if raw else _smallest(tensor) for name, tensor in tensors.items()}
    least = sum(kept(tensor, forms[tensor.name]) for tensor in tensors.values())
    most = machine_memory() if memory_limit is None else memory_limit
    if least > most:
        raise ModelError(
            f"{path}: the weights need {_size(least, math.ceil)} of memory, {_size(most, math.floor)} are "
            "allowed; use a smaller quantization"
        )
    if not device.on_gpu():
        _densify(tensors, forms, (most // 2 if memory_limit is None else most) - least)
    return forms


def _smallest(tensor: Tensor) -> Storage:
    """The form that takes the least memory, where no Metal kernels run."""
    use = role(tensor.name)
    large = use != "other" and tensor.elements >= cores.WORTH_IT
    if large and compiled.reads(tensor.type, tensor.row_bytes):
        return Storage.COMPILED
    return Storage.TABLE if use == "table" and not device.on_gpu() else Storage.PACKED


def _size(n: int, rounded) -> str:
    """Bytes in a unit that shows something."""
    unit, name = next(((u, name) for u, name in ((1e9, "GB"), (1e6, "MB")) if n >= u), (1e3, "kB"))
    return f"{rounded(n / unit * 10) / 10:.1f} {name}"


def _densify(tensors: Mapping[str, Tensor], forms: dict[str, Storage], spare: int) -> None:
    """Matrices that are packed in `forms` become dense there."""
    matrices = [t for t in tensors.values() if role(t.name) == "matrix" and forms[t.name] is Storage.PACKED]
    for tensor in sorted(matrices, key=_rank):
        cost = kept(tensor, Storage.DENSE) - kept(tensor, Storage.PACKED)
        if cost > spare:
            break
        spare -= cost
        forms[tensor.name] = Storage.DENSE


def _rank(tensor: Tensor) -> int:
    """The Fast-AR's weights are read nine times a frame; groups of 16 must be decoded for each product."""
    if tensor.name.startswith("fast_"):
        return 0
    return 1 if tensor.type in GROUPS_OF_16 else 2


def machine_memory() -> int:
    """Bytes of memory this process can hope for: the machine's, or its container's if that is less."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/sys/fs/cgroup/memory.max") as file:
            return min(total, int(file.read()))
    except (OSError, ValueError):  # no such file, or "max"
        return total
