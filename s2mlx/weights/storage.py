"""How a model's matrices are kept in memory: one plan for a whole checkpoint. Knows sizes and the machine only."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from gguf.constants import GGMLQuantizationType

from .. import device
from ..errors import ModelError
from . import affine
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

    On a GPU: raw blocks if the kernels run here, else packed. On the CPU matrices become dense as far as
    `memory_limit` bytes of weights allow (None: half of the machine's memory), those first that gain most.
    Raises `ModelError` when not even the packed model fits. The plan depends on the file, the limit and the machine
    alone, so that a seed gives the same speech every time.
    """
    raw = device.kernels_available()
    least = sum(kept(tensor, Storage.RAW if raw else Storage.PACKED) for tensor in tensors.values())
    most = machine_memory() if memory_limit is None else memory_limit
    if least > most:
        raise ModelError(
            f"{path}: the weights need {_size(least, math.ceil)} of memory, {_size(most, math.floor)} are "
            "allowed; use a smaller quantization"
        )
    if device.on_gpu():
        return dict.fromkeys(tensors, Storage.RAW if raw else Storage.PACKED)
    return _densify(tensors, (most // 2 if memory_limit is None else most) - least)


def _size(n: int, rounded) -> str:
    """Bytes in a unit that shows something."""
    unit, name = next(((u, name) for u, name in ((1e9, "GB"), (1e6, "MB")) if n >= u), (1e3, "kB"))
    return f"{rounded(n / unit * 10) / 10:.1f} {name}"


def _densify(tensors: Mapping[str, Tensor], spare: int) -> dict[str, Storage]:
    roles = {name: role(name) for name in tensors}
    forms = {name: Storage.TABLE if roles[name] == "table" else Storage.PACKED for name in tensors}
    matrices = [tensor for name, tensor in tensors.items() if roles[name] == "matrix"]
    for tensor in sorted(matrices, key=_rank):
        cost = kept(tensor, Storage.DENSE) - kept(tensor, Storage.PACKED)
        if cost > spare:
            break
        spare -= cost
        forms[tensor.name] = Storage.DENSE
    return forms


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
