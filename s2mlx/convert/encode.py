"""The bytes of a tensor in another type, a piece at a time. Knows types, not files."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from gguf import quants
from gguf.constants import GGMLQuantizationType

from ..errors import ModelError
from . import kquants
from .types import TensorPlan

_T = GGMLQuantizationType
# Weights converted at a time: few enough for their arrays to stay in the cache, enough for what Python does between
# two operations, one thread at a time, to be next to nothing.
PIECE = 1 << 18
COPY = 4 << 20  # bytes copied at a time
HELD = 32 << 20  # bytes of a tensor that stay in memory once they are read
_LARGEST_HALF = 65504


@contextmanager
def workers():
    """Threads that convert pieces; NumPy lets them run at the same time. At the end what is under way is waited for."""
    pool = ThreadPoolExecutor(processors())
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


class Piece(NamedTuple):
    """Some rows of a tensor on their way. made: waits for them as they are to be written, uint8 [rows, row_bytes].
    read: bytes of the source that they were. last: whether the tensor ends with them."""

    made: Callable[[], np.ndarray]
    read: int
    last: bool


class Pieces:
    """Tensors in their new types, one after the other. The workers go on with the next tensor while one ends; few
    pieces are open at any time."""

    def __init__(self, tensors: Iterable[TensorPlan], pool: ThreadPoolExecutor):
        self._begun = _pieces(tensors, pool)
        self._open: deque[Piece] = deque()

    def of(self, planned: TensorPlan) -> Iterator[tuple[np.ndarray, int]]:
        """(rows to write, bytes read for them) of the next tensor, which `planned` must be.

        Raises `ModelError` where a weight is not finite or too large for the type.
        """
        region = planned.tensor.region
        used, last = _Used(region), False
        try:
            while not last:
                self._open.extend(islice(self._begun, 2 * processors() - len(self._open)))
                made, read, last = self._open.popleft()
                yield made(), read
                used.add(read)
        finally:
            region.release()


def _pieces(tensors: Iterable[TensorPlan], pool: ThreadPoolExecutor) -> Iterator[Piece]:
    for planned in tensors:
        tensor, data = planned.tensor, planned.tensor.rows
        columns, rows = tensor.shape[-1], len(data)
        step = max(COPY * rows // tensor.nbytes if planned.same else PIECE // columns, 1)
        for at in range(0, rows, step):
            part, last = slice(at, at + step), at + step >= rows
            read = tensor.nbytes // rows * (min(at + step, rows) - at)
            if planned.same:
                yield Piece(partial(data.__getitem__, part), read, last)
            else:
                yield Piece(
                    pool.submit(convert, data[part], tensor.type, planned.kind, planned.name).result, read, last
                )


class Progress:
    """How much of the source was read, told as it grows: report(bytes read, bytes in all)."""

    def __init__(self, total: int, report: Callable[[int, int], None]):
        self._done, self._total, self._report = 0, total, report

    def add(self, read: int) -> None:
        self._done += read
        self._report(self._done, self._total)


class _Used:
    """Lets go of the file's memory of a large tensor as it is read."""

    def __init__(self, region):
        self._region, self._from, self._to = region, 0, 0

    def add(self, nbytes: int) -> None:
        """So many bytes more are done with."""
        self._to += nbytes
        if self._to - self._from >= HELD:
            self._region.release(self._from, self._to)
            self._from = self._to


def convert(data: np.ndarray, kind: GGMLQuantizationType, target: GGMLQuantizationType, name: str) -> np.ndarray:
    """Rows of one type, uint8 [rows, row_bytes], as rows of another."""
    x = np.asarray(quants.dequantize(data, kind), np.float32)
    largest = np.abs(x).max()
    if not np.isfinite(largest):
        raise ModelError(f"tensor {name!r} holds numbers that are not finite; the file is damaged")
    if largest > _LARGEST_HALF and target not in (_T.F32, _T.BF16):
        raise ModelError(f"tensor {name!r} holds {largest:.3g}, too large for {target.name.lower()}; use bf16 or f32")
    with np.errstate(under="ignore"):
        made = kquants.quantize(x, target) if target in kquants.KINDS else quants.quantize(x, target)
    return np.ascontiguousarray(made).view(np.uint8).reshape(len(x), -1)


def processors() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
