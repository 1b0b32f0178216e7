"""Which device MLX computes on, and whether our Metal kernels run there. Asked at every use, since tests and programs
change it.
"""

from __future__ import annotations

import os

import mlx.core as mx

from .errors import UsageError

_OFF = ("off", "0", "no", "false")
_SWITCH = ("", "on", "1", "yes", "true", *_OFF)


def on_gpu() -> bool:
    """Whether MLX's default device is a GPU."""
    return mx.default_device().type == mx.DeviceType.gpu


def kernels_wanted() -> bool:
    """Whether `S2MLX_KERNELS` is not `off`. Raises `UsageError` for another word in it."""
    word = os.environ.get("S2MLX_KERNELS", "").strip().lower()
    if word not in _SWITCH:
        raise UsageError(f"S2MLX_KERNELS must be on or off, not {word!r}")
    return word not in _OFF


def kernels_available() -> bool:
    """Whether our Metal kernels run here: a Metal device is in use and they are wanted. Raises `UsageError`."""
    return kernels_wanted() and mx.metal.is_available() and on_gpu()
