"""How a model's matrices are kept in memory: one decision for a whole checkpoint. Knows sizes and the machine only."""

from __future__ import annotations

import enum
import os


class Storage(enum.Enum):
    """DENSE: float32, laid out [in, out], twice as fast as anything else on the CPU. PACKED: as few bits as the file
    has, in the layout that MLX can multiply with. RAW: the file's own blocks, for the Metal kernels."""

    DENSE = "dense"
    PACKED = "packed"
    RAW = "raw"


def choose_storage(weights: int, memory_limit: int | None = None) -> Storage:
    """The best form for a model of `weights` numbers.

    memory_limit: bytes that dense weights may take on the CPU; None allows half of the machine's memory.
    """
    import mlx.core as mx

    if mx.default_device().type == mx.DeviceType.gpu:
        return Storage.PACKED
    limit = machine_memory() // 2 if memory_limit is None else memory_limit
    return Storage.DENSE if 4 * weights <= limit else Storage.PACKED


def machine_memory() -> int:
    """Bytes of memory this process can hope for: the machine's, or its container's if that is less."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/sys/fs/cgroup/memory.max") as file:
            return min(total, int(file.read()))
    except (OSError, ValueError):  # no such file, or "max"
        return total
