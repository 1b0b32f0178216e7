"""Dense matrix products, sent where they run fastest. Knows nothing of weight formats.

MLX's CPU wheels carry the reference BLAS: one core, no blocking, ~7 GFLOP/s. NumPy's wheels carry OpenBLAS, which is
30 to 60 times faster for a matrix and 4 times for a vector, and both see the same memory. So on the CPU backend a
product worth the detour is computed by NumPy. The detour evaluates `x` at once, which on this backend costs
microseconds; on a GPU it would be a synchronisation, so there MLX always computes.

Products with a weight are cut into pieces that all cores take (`cores.share`), each by a BLAS of one thread. The pieces
do not depend on the number of threads, so neither do the sums. What `weights.compiled` multiplies is shared so too.

`S2MLX_HOST_BLAS` is that number; `off` keeps every product in MLX's graph, as the counting of graph nodes needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import mlx.core as mx
import numpy as np
from gguf.constants import GGMLQuantizationType

from ..weights import compiled, cores

# Below this many multiply-adds it is not worth waking other threads (~20 us).
WORTH_SHARING = 1_000_000
# Pieces of a matrix: a multiple of most numbers of cores. Rows of a piece: a multiple of what BLAS takes in one go.
_PIECES, _STEP = 16, 16
# Multiply-adds of a call to BLAS that a piece is not cut below: smaller ones take it longer.
_LEAST_CALL = 500_000
# Up to so many rows of x are multiplied one by one: OpenBLAS is slower at a narrow matrix than at its vectors.
_VECTORS = 2
# Rows of the largest batch in the Fast-AR's first pass.
_BATCH = 16
# For more rows of x blocks are opened first, and multiplied as floats.
_FEW = 3 * compiled.MOST_VECTORS
# Weights of blocks that one thread opens at a time, for many rows of x: as many as its cache holds.
_OPENED = 1 << 19


def host_blas() -> bool:
    """Whether dense products may be computed by NumPy: CPU backend, not switched off."""
    return mx.default_device() == mx.Device(mx.cpu) and cores.setting() != "off" and _one_thread_each()


@cache
def _one_thread_each() -> bool:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="blas")
    return True


def matmul(x: mx.array, w: mx.array | np.ndarray) -> mx.array:
    """x [..., in] @ w [in, out] -> [..., out], float32."""
    rows = x.size // x.shape[-1]
    if rows * w.size < cores.WORTH_IT or not host_blas():
        return x @ mx.array(w)
    return through_numpy(x, lambda flat: dense_product(flat, np.asarray(w)))


def through_numpy(x: mx.array, product: Callable[[np.ndarray], np.ndarray]) -> mx.array:
    """x [..., in] -> [..., out], float32, by a `product` of rows [N, in] -> [N, out] in NumPy's memory."""
    y = product(np.asarray(x.astype(mx.float32)).reshape(-1, x.shape[-1]))
    return mx.array(y).reshape(*x.shape[:-1], y.shape[1])


def dense_product(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """x [N, in] @ w [in, out] -> [N, out], float32, by all cores if it is large. By a small matrix a row of a batch is
    the same as alone."""
    if len(x) <= _BATCH and w.size < WORTH_SHARING:
        return x @ w if len(x) == 1 else np.stack([row @ w for row in x])
    y = np.empty((len(x), w.shape[1]), np.float32)
    share_parts(lambda some, of: np.matmul(x[some], w[:, of], out=y[some, of]), *y.shape, w.shape[0])
    return y


def share_parts(work: Callable[[slice, slice], object], rows: int, columns: int, depth: int, calls: int = 1) -> None:
    """work(rows, columns) for all parts of a result [rows, columns] by all cores, each number of it a sum of `depth`
    products that `calls` calls to BLAS add up: by rows where there are many, by columns where there are few."""
    share = cores.share if rows * columns * depth >= WORTH_SHARING else cores.alone
    by_rows = rows >= _PIECES * _STEP
    length = rows if by_rows else columns
    pieces = min(max(rows * columns * depth // (calls * _LEAST_CALL), 1), _PIECES)
    step = -(-length // (pieces * _STEP)) * _STEP
    parts = [slice(at, min(at + step, length)) for at in range(0, length, step)]
    share(lambda part: work(part, slice(None)) if by_rows else work(slice(None), part), parts)


def host_product(x: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
    """x [N, in] times the transposes of float32 matrices [out, in] -> [N, all outs], float32, by all cores."""

    def vectors(flat: np.ndarray, i: int, rows: slice, y: np.ndarray) -> None:
        for row, into in zip(flat, y):
            np.dot(matrices[i][rows], row, out=into)

    def many(across: np.ndarray, i: int, rows: slice, y: np.ndarray) -> None:
        np.matmul(matrices[i][rows], across, out=y)

    return _shared(x, [len(w) for w in matrices], _VECTORS, vectors, many, None)


def blocks_product(x: np.ndarray, matrices: Sequence[tuple[np.ndarray, GGMLQuantizationType]]) -> np.ndarray:
    """As `host_product` of matrices in a file's own blocks, uint8 [out, row_bytes] and their type."""

    def vectors(flat: np.ndarray, i: int, rows: slice, y: np.ndarray) -> None:
        data, kind = matrices[i]
        for at in range(0, len(flat), compiled.MOST_VECTORS):
            some = slice(at, at + compiled.MOST_VECTORS)
            compiled.product(data[rows], kind, flat[some], y[some])

    def many(across: np.ndarray, i: int, rows: slice, y: np.ndarray) -> None:
        data, kind = matrices[i]
        opened = cores.room(len(y), len(across))
        compiled.open_rows(data[rows], kind, opened)
        np.matmul(opened, across, out=y)

    return _shared(x, [len(data) for data, _ in matrices], _FEW, vectors, many, _OPENED)


_Piece = Callable[[np.ndarray, int, slice, np.ndarray], None]


def _shared(
    flat: np.ndarray, lengths: list[int], most: int, vectors: _Piece, many: _Piece, weights: int | None
) -> np.ndarray:
    """The product of x [N, in] and matrices of so many rows, in pieces that the cores take.

    vectors(x [n, in], i, rows, y [n, those rows]) multiplies rows of matrix i by n <= most vectors,
    many(x.T [in, n], i, rows, y [those rows, n]) by more; then a piece has at most so many `weights`, if given."""
    _one_thread_each()
    width, out = flat.shape[1], sum(lengths)
    flat = np.ascontiguousarray(flat)
    shared = len(flat) * width * out >= WORTH_SHARING
    share, pieces = (cores.share, _PIECES) if shared else (cores.alone, 1)
    if len(flat) <= most:
        y = np.empty((len(flat), out), np.float32)
        share(lambda p: vectors(flat, p[0], p[1], y[:, p[2]]), _pieces(lengths, pieces, None))
        return y
    across, turned = np.ascontiguousarray(flat.T), np.empty((out, len(flat)), np.float32)
    step = None if weights is None else max(weights // width // _STEP, 1) * _STEP
    share(lambda p: many(across, p[0], p[1], turned[p[2]]), _pieces(lengths, pieces, step))
    return np.ascontiguousarray(turned.T)


def _pieces(lengths: list[int], count: int, most: int | None) -> Iterator[tuple[int, slice, slice]]:
    """(a matrix, some of its rows, the rows of the result that they make)."""
    at = 0
    for i, length in enumerate(lengths):
        step = max(-(-length // (count * _STEP)), 1) * _STEP
        step = step if most is None else min(step, most)
        for begin in range(0, length, step):
            end = min(begin + step, length)
            yield i, slice(begin, end), slice(at + begin, at + end)
        at += length
