"""From logits to a choice, on the device. A sampler is a closure the loop calls without knowing its parameters.

The arithmetic of a draw is `kernels.sampler`'s: one launch where kernels run, plain MLX elsewhere; a frame in NumPy has
`host_sampler`. This file knows what is drawn with which settings, and where the randomness comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mlx.core as mx
import numpy as np

from ..kernels import sampler as kernel
from ..options import Sampling

# Repetition-aware sampling (VALL-E 2, arXiv:2406.05370): a semantic token among the last WINDOW is drawn once more.
RAS_WINDOW = 10
RAS_TEMPERATURE, RAS_TOP_P = 1.0, 0.9


def make_sampler(sampling: Sampling) -> Callable[[mx.array, mx.array], mx.array]:
    """-> draw(logits [B, n], uniforms float32 [B, 1] in [0, 1)) -> int32 [B]."""
    settings = drawing(sampling)
    return lambda logits, uniforms: kernel.draw(logits, uniforms, settings)


def make_semantic_sampler(sampling: Sampling) -> Callable:
    """-> draw(logits [B, n], uniforms float32 [B, 2], window int32 [B, RAS_WINDOW], may_end int32 [B]) -> tokens int32
    [B] and the next window. The last column of the logits is the end.

    The redraw uses the same logits and top_k; it happens once, never for the end token, and what it gives is kept."""
    settings = drawing(sampling)
    return lambda logits, uniforms, window, may_end: kernel.draw_semantic(logits, uniforms, window, may_end, settings)


def drawing(sampling: Sampling) -> kernel.SamplerSettings:
    """These rules, with those of the redraw."""
    return kernel.SamplerSettings(sampling.temperature, sampling.top_p, sampling.top_k, RAS_TEMPERATURE, RAS_TOP_P)


def uniforms(seed: int, width: int, block: int = 64) -> Iterator[np.ndarray]:
    """Rows of `width` numbers in [0, 1), float32 [width], for ever: the randomness of one sequence, a row a frame.

    Counter-based (MLX's Threefry), from explicit keys: independent of other sequences and of how many rows are taken.
    Made on the CPU, on every backend: a GPU would do it after the frame that is under way, and the host would wait."""
    key = mx.array([seed >> 32, seed & 0xFFFFFFFF], dtype=mx.uint32)
    while True:
        key, now = mx.random.split(key, stream=mx.cpu)
        rows = mx.random.uniform(shape=(block, width), key=now, stream=mx.cpu)
        mx.eval(key, rows)
        yield from np.array(rows)
