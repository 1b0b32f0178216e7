"""Which device MLX computes on, and whether our Metal kernels run there. Asked at every use, since tests and programs
change it.
"""

from __future__ import annotations

import os

import mlx.core as mx


def on_gpu() -> bool:
    """Whether MLX's default device is a GPU."""
    return mx.default_device().type == mx.DeviceType.gpu


def kernels_available() -> bool:
    """Whether our kernels run here: a Metal device is in use and `S2MLX_KERNELS` is not `off`."""
    return os.environ.get("S2MLX_KERNELS", "").lower() != "off" and mx.metal.is_available() and on_gpu()
