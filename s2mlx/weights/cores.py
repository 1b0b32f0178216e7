"""The CPU's cores, shared by what runs through many numbers: weights being opened, products of matrices.

NumPy, BLAS and MLX let go of Python's lock while they compute, so plain threads do. They sleep when there is nothing to
do; those of OpenBLAS spin, which on a machine that does anything else costs more than it brings.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..errors import UsageError

# More threads than this hardly help: products wait for the memory.
MOST = 8
# Multiply-adds of the smallest product that is worth a call from MLX into NumPy or machine code (~20 us).
WORTH_IT = 200_000
_SWITCH = "S2MLX_HOST_BLAS"
_Part = TypeVar("_Part")


def setting() -> str:
    """What `S2MLX_HOST_BLAS` says: "off", a number of threads, or "" for as many as suit the machine. Raises
    `UsageError` for anything else."""
    word = os.environ.get(_SWITCH, "").strip()
    if word not in ("", "off") and (not word.isdecimal() or int(word) < 1):
        raise UsageError(f"{_SWITCH} must be `off` or a number of threads, not {word!r}")
    return word


def threads() -> int:
    """How many threads share the work: the machine's physical cores, `MOST` at most, or what the user has set."""
    word = setting()
    return int(word) if word.isdecimal() else min(physical_cores(), MOST)


@cache
def physical_cores(topology: Path = Path("/sys/devices/system/cpu")) -> int:
    """Cores that this process may use; two threads of one core count once, where the system tells (Linux)."""
    try:
        allowed = os.sched_getaffinity(0)
    except AttributeError:  # macOS: its chips have one thread a core
        return os.cpu_count() or 1
    try:
        each = {(topology / f"cpu{i}/topology/thread_siblings_list").read_text() for i in allowed}
    except OSError:
        return len(allowed)
    return len(each)


def share(work: Callable[[_Part], object], parts: Iterable[_Part]) -> None:
    """`work(part)` for every part, by all threads, the caller's among them: whoever is free takes the next one."""
    left = iter(list(parts))

    def take() -> None:
        alone(work, left)

    others = threads() - 1
    helpers = [_pool(others).submit(take) for _ in range(others)]
    try:
        take()
    finally:
        for helper in helpers:
            if not helper.cancel():  # one that has not begun has nothing left to do
                helper.result()


def alone(work: Callable[[_Part], object], parts: Iterable[_Part]) -> None:
    """As `share`, by the caller: for what is done before others are awake."""
    with np.errstate(all="ignore"):  # weights that are no numbers are told once, by who reads a frame
        for part in parts:
            work(part)


_kept = threading.local()


def room(rows: int, columns: int) -> np.ndarray:
    """float32 [rows, columns], not filled: memory that this thread has for what passes through it, good until it asks
    again."""
    floats = getattr(_kept, "floats", None)
    if floats is None or len(floats) < rows * columns:
        floats = _kept.floats = np.empty(rows * columns, np.float32)
    return floats[: rows * columns].reshape(rows, columns)


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="s2mlx-core")
