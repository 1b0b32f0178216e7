"""Dense matrix products, sent where they run fastest. Knows nothing of weight formats.

MLX's CPU wheels carry the reference BLAS: one core, no blocking, ~7 GFLOP/s. NumPy's wheels carry OpenBLAS, which is
30 to 60 times faster for a matrix and 4 times for a vector, and both see the same memory. So on the CPU backend a
product worth the detour is computed by NumPy. The detour evaluates `x` at once, which on this backend costs
microseconds; on a GPU it would be a synchronisation, so there MLX always computes.

Products with a weight are cut into pieces that all cores take (`cores.share`), each by a BLAS of one thread. The pieces
do not depend on the number of threads, so neither do the sums.

`S2MLX_HOST_BLAS` is that number; `off` keeps every product in MLX's graph, as the counting of graph nodes needs it.
"""

from __future__ import annotations

from functools import cache

import mlx.core as mx
import numpy as np

from ..weights import cores

# Below this many multiply-adds the detour (~20 us) costs more than it saves.
WORTH_IT = 200_000
# Pieces of a matrix: a multiple of most numbers of cores. Rows of a piece: a multiple of what BLAS takes in one go.
_PIECES, _STEP = 16, 16
# Up to so many rows of x are multiplied one by one: OpenBLAS is slower at a narrow matrix than at its vectors.
_VECTORS = 2


def host_blas() -> bool:
    """Whether dense products may be computed by NumPy: CPU backend, not switched off."""
    return mx.default_device() == mx.Device(mx.cpu) and cores.setting() != "off" and _one_thread_each()


@cache
def _one_thread_each() -> bool:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="blas")
    return True


def matmul(x: mx.array, w: mx.array) -> mx.array:
    """x [..., in] @ w [in, out] -> [..., out], float32."""
    rows = x.size // x.shape[-1]
    if rows * w.size < WORTH_IT or not host_blas():
        return x @ w
    flat = np.asarray(x).reshape(rows, x.shape[-1])
    return mx.array(flat @ np.asarray(w)).reshape(*x.shape[:-1], w.shape[-1])


def host_product(x: mx.array, matrices: tuple[np.ndarray, ...]) -> mx.array:
    """x [..., in] times the transposes of float32 matrices [out, in] -> [..., all outs], float32, by all cores."""
    flat = np.asarray(x.astype(mx.float32)).reshape(-1, x.shape[-1])
    out = sum(len(w) for w in matrices)
    if len(flat) <= _VECTORS:
        y = np.empty((len(flat), out), np.float32)
        cores.share(lambda piece: _vectors(flat, *piece), _pieces(matrices, y.T))
    else:
        across, y = np.ascontiguousarray(flat.T), np.empty((out, len(flat)), np.float32)
        cores.share(lambda piece: np.matmul(piece[0], across, out=piece[1]), _pieces(matrices, y))
        y = np.ascontiguousarray(y.T)
    return mx.array(y).reshape(*x.shape[:-1], out)


def _vectors(flat, w, y):
    for i, row in enumerate(flat):
        np.dot(w, row, out=y[:, i])


def _pieces(matrices, y):
    """(some rows of a matrix, the rows of y [out, n] that they make)."""
    at = 0
    for w in matrices:
        step = -(-len(w) // (_PIECES * _STEP)) * _STEP
        for begin in range(0, len(w), step):
            part = w[begin : begin + step]
            yield part, y[at + begin : at + begin + len(part)]
        at += len(w)
