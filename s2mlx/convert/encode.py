"""The bytes of a tensor in another type, a piece at a time. Knows types, not files."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from gguf import quants
from gguf.constants import GGMLQuantizationType

from ..errors import ModelError
from . import kquants
from .types import TensorPlan

_T = GGMLQuantizationType
PIECE = 1 << 17  # weights converted at a time: its arrays stay in the cache
COPY = 4 << 20  # bytes copied at a time
HELD = 32 << 20  # bytes of a tensor that stay in memory once they are read
_LARGEST_HALF = 65504


@contextmanager
def workers():
    """Threads that convert pieces; NumPy lets them run at the same time. At the end what is under way is waited for."""
    pool = ThreadPoolExecutor(_processors())
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def chunks(planned: TensorPlan, pool: ThreadPoolExecutor) -> Iterator[tuple[np.ndarray, int]]:
    """(rows to write, uint8 [rows, row_bytes], and bytes read for them), in order. Few pieces are open at any time.

    Raises `ModelError` where a weight is not finite or too large for the type.
    """
    tensor, used = planned.tensor, _Used(planned.tensor.region)
    try:
        data = tensor.rows
        if planned.same:
            step = max(COPY * len(data) // tensor.nbytes, 1)
            for at in range(0, len(data), step):
                yield (part := data[at : at + step]), part.nbytes
                used.add(part.nbytes)
            return
        step, open_pieces = max(PIECE // tensor.shape[-1], 1), deque()
        for at in range(0, len(data), step):
            part = data[at : at + step]
            open_pieces.append((pool.submit(convert, part, tensor.type, planned.kind, planned.name), part.nbytes))
            if len(open_pieces) > 2 * _processors():
                future, read = open_pieces.popleft()
                yield future.result(), read
                used.add(read)
        for future, read in open_pieces:
            yield future.result(), read
    finally:
        tensor.region.release()


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


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
