"""Dense matrix products, sent where they run fastest. Knows nothing of weight formats.

MLX's CPU wheels carry the reference BLAS: one core, no blocking, ~7 GFLOP/s. NumPy's wheels carry OpenBLAS, which is
30 to 60 times faster for a matrix and 4 times for a vector, and both see the same memory. So on the CPU backend a
product worth the detour is computed by NumPy. The detour evaluates `x` at once, which on this backend costs
microseconds; on a GPU it would be a synchronisation, so there MLX always computes.

`S2MLX_HOST_BLAS` is the number of threads OpenBLAS may use in this process, 1 unless set: its threads wait for each
other by spinning, which on a machine that does anything else makes a product up to 100 times slower. `off` keeps every
product in MLX's graph, as the counting of graph nodes needs it.
"""

from __future__ import annotations

import os
from functools import cache

import mlx.core as mx
import numpy as np

from ..errors import UsageError

# Below this many multiply-adds the detour (~20 us) costs more than it saves.
_WORTH_IT = 200_000


def host_blas() -> bool:
    """Whether dense products may be computed by NumPy: CPU backend, not switched off."""
    setting = os.environ.get("S2MLX_HOST_BLAS", "1")
    return mx.default_device() == mx.Device(mx.cpu) and setting != "off" and _limit_threads(setting)


@cache
def _limit_threads(setting: str) -> bool:
    from threadpoolctl import threadpool_limits

    if not setting.isdecimal() or int(setting) < 1:
        raise UsageError(f"S2MLX_HOST_BLAS must be `off` or a number of threads, not {setting!r}")
    threadpool_limits(int(setting), user_api="blas")
    return True


def matmul(x: mx.array, w: mx.array) -> mx.array:
    """x [..., in] @ w [in, out] -> [..., out], float32."""
    rows = x.size // x.shape[-1]
    if rows * w.size < _WORTH_IT or not host_blas():
        return x @ w
    flat = np.asarray(x).reshape(rows, x.shape[-1])
    return mx.array(flat @ np.asarray(w)).reshape(*x.shape[:-1], w.shape[-1])
