"""Which device MLX computes on. Asked at every use, since tests and programs change it."""

from __future__ import annotations

import mlx.core as mx


def on_gpu() -> bool:
    return mx.default_device().type == mx.DeviceType.gpu
