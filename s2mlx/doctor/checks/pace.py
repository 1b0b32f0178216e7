"""How fast the kernels read each format, with one and with several vectors, beside what the memory gives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import mlx.core as mx
import numpy as np

from ... import device
from ...bench.machine import CHIPS, measure_bandwidth
from ...config import SLOW_AR
from ...kernels import qmv
from ...kernels.blocks import FORMATS, sample_blocks
from ..finding import Finding, good, note

ROWS = (1, 2, 4, 8)
LEAST = 0.4  # of the bandwidth with one vector; the estimate for the slowest format on the fastest chip is 0.5
_TOTAL = 256 << 20  # bytes of matrices that are read in turn: more than any cache holds
_TRIES = 5


def run() -> Iterator[Finding]:
    bandwidth = measure_bandwidth()
    yield _memory(bandwidth)
    if not device.kernels_available():
        yield note("how fast our kernels read is measured on a Mac")
        return
    for format, about in FORMATS.items():
        gb = {rows: read(int(format), rows) / 1e9 for rows in ROWS}
        share = gb[1] * 1e9 / bandwidth
        text = f"{about.name}: {share:.0%} of it with one vector, GB/s for " + ", ".join(
            f"{rows}: {value:.0f}" for rows, value in gb.items()
        )
        figures = {"format": about.name, "share": share, "gb": {str(rows): value for rows, value in gb.items()}}
        if share < LEAST:
            yield note(text, "slower than we work out; a report (s2mlx doctor --report) would help us", **figures)
        else:
            yield good(text, **figures)


def read(format: int, rows: int, shape: tuple[int, int] = (SLOW_AR.ffn_dim, SLOW_AR.dim), total: int = _TOTAL) -> float:
    """Bytes of weights a second that products with `rows` vectors read, matrices of `shape` one after the other: the
    best of a few tries."""
    pool = np.array(sample_blocks(format, 64, shape[1]))
    whole = np.resize(pool, (shape[0], pool.shape[1]))
    matrices = [mx.array(whole) for _ in range(max(2, -(-total // whole.nbytes)))]
    x = mx.random.normal((rows, shape[1]))
    mx.eval(matrices, x)
    return best(lambda: mx.eval([qmv.qmv(w, x, format) for w in matrices])) * whole.nbytes * len(matrices)


def best(work: Callable[[], object]) -> float:
    """How often a second `work` can be done; the first time does not count."""
    work()
    times = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1 / min(times)


def _memory(bandwidth: float) -> Finding:
    name = str(mx.device_info().get("device_name", "")) if device.on_gpu() else ""
    nominal = [gb for chip, gb in CHIPS.items() if f"Apple {chip.split(' (')[0]}" == name]
    stated = f"; Apple states {' or '.join(map(str, nominal))}" if nominal else ""
    return good(f"the memory gives {bandwidth / 1e9:.0f} GB/s{stated}", bandwidth=bandwidth, nominal=nominal)
