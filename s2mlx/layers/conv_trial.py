"""Whether our convolution kernel or MLX's own convolution is the faster one here: tried once, on this machine.

Both are implicit matrix products on the GPU. Ours does Snake, padding, bias and residual in the same launch; MLX's is
tuned for every chip, but must have the weights, which stay as the file has them, cast first. Which one wins depends on
the chip, so it is measured rather than believed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import mlx.core as mx

from .. import device
from ..kernels import conv as kernel
from .elementwise import snake

# a residual unit in the middle of S2 Pro's decoder, for a piece of 4 frames
_ROWS, _CHANNELS, _TAPS, _DILATION = 1024, 384, 7, 3
_TRIES = 3
# MLX's must be faster by as much to be taken: where both are alike, every run takes the same way and sums in one order.
_MARGIN = 1.15


@cache
def kernels_win() -> bool:
    """True where Metal kernels run and are the faster way. Decided at the first question; costs some milliseconds."""
    if not device.kernels_available():
        return False
    x, past = mx.ones((_ROWS, _CHANNELS)), mx.ones(((_TAPS - 1) * _DILATION, _CHANNELS))
    ours = mx.ones((_TAPS, _CHANNELS, _CHANNELS), mx.float16)
    theirs = ours.transpose(1, 0, 2) + 0
    vector = mx.ones(_CHANNELS)
    mx.eval(x, past, ours, theirs, vector)

    def by_kernel():
        return kernel.conv(x, past, ours, vector, dilation=_DILATION, alpha=vector, residual=x)

    def by_mlx():
        padded = mx.concatenate([past, snake(x, vector, vector)])
        return x + (mx.conv1d(padded[None], theirs.astype(x.dtype), dilation=_DILATION)[0] + vector)

    return _best(by_kernel) < _MARGIN * _best(by_mlx)


def _best(work: Callable) -> float:
    """Seconds of the fastest try; the first one, which compiles, does not count."""
    mx.eval(work())
    times = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        mx.eval(work())
        times.append(time.perf_counter() - began)
    return min(times)
