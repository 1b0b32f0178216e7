"""From logits to a choice, on the device. A sampler is a closure the loop calls without knowing its parameters.

An entry of the sorted probabilities (at temperature 1) is kept if its rank is below top_k and it is the best or the sum
up to and including it is at most top_p; the kept logits are divided by the temperature and one is drawn.

Draws invert the cumulative distribution at a uniform number that comes from outside (`uniforms`), so a seed means the
same on every backend, and any number of sequences can be drawn for at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mlx.core as mx

from .options import Sampling

# Repetition-aware sampling (VALL-E 2, arXiv:2406.05370): a semantic token among the last WINDOW ones is drawn once more.
RAS_WINDOW = 10
RAS_TEMPERATURE, RAS_TOP_P = 1.0, 0.9

Sampler = Callable[[mx.array, mx.array], mx.array]


def make_sampler(sampling: Sampling) -> Sampler:
    """-> draw(logits float32 [B, n], uniform float32 [B] in [0, 1)) -> int32 [B]."""
    if sampling.temperature == 0:
        return lambda logits, uniform: mx.argmax(logits, axis=-1).astype(mx.int32)

    def draw(logits: mx.array, uniform: mx.array) -> mx.array:
        order, values, mass = _ranked(logits, sampling.top_k)
        return _draw(order, values, mass, uniform, sampling.temperature, sampling.top_p)

    return draw


def make_semantic_sampler(sampling: Sampling) -> Callable[[mx.array, mx.array, mx.array, mx.array, int], mx.array]:
    """-> draw(logits [B, n], uniform [B], second uniform [B], window int32 [B, RAS_WINDOW], end token) -> int32 [B].

    The redraw uses the same logits and top_k; it happens once, never for the end token, and what it gives is kept."""

    def draw(logits, uniform, again, window, end_token):
        order, values, mass = _ranked(logits, sampling.top_k)
        if sampling.temperature == 0:
            first = order[:, 0]
        else:
            first = _draw(order, values, mass, uniform, sampling.temperature, sampling.top_p)
        second = _draw(order, values, mass, again, RAS_TEMPERATURE, RAS_TOP_P)
        repeated = mx.any(window == first[:, None], axis=-1) & (first != end_token)
        return mx.where(repeated, second, first)

    return draw


def _ranked(logits: mx.array, top_k: int) -> tuple[mx.array, mx.array, mx.array]:
    """Best first: indices int32, logits, and the probability mass up to and including each, all [B, k]."""
    order = mx.argsort(-logits, axis=-1)
    if 0 < top_k < logits.shape[-1]:
        order = order[:, :top_k]
    values = mx.take_along_axis(logits, order, axis=-1)
    probabilities = mx.exp(values - mx.logsumexp(logits, axis=-1, keepdims=True))
    return order.astype(mx.int32), values, mx.cumsum(probabilities, axis=-1)


def _draw(order, values, mass, uniform, temperature, top_p) -> mx.array:
    weight = mx.exp((values - values[:, :1]) / temperature)
    if top_p < 1:  # at 1 nothing may be dropped, whatever the sum's rounding
        best = mx.arange(values.shape[-1]) == 0
        weight = mx.where((mass <= top_p) | best, weight, 0)
    cumulative = mx.cumsum(weight, axis=-1)
    # `<` keeps the index on a kept entry even when rounding makes the threshold equal to the whole
    rank = mx.sum(cumulative < uniform[:, None] * cumulative[:, -1:], axis=-1, keepdims=True)
    return mx.take_along_axis(order, rank, axis=-1)[:, 0]


def uniforms(seed: int, width: int, block: int = 64) -> Iterator[mx.array]:
    """Rows of `width` numbers in [0, 1), float32 [width], for ever: the randomness of one sequence, a row a frame.

    Counter-based (MLX's Threefry), from explicit keys: independent of the backend, of other sequences and of how many
    rows are taken."""
    key = mx.array([seed >> 32, seed & 0xFFFFFFFF], dtype=mx.uint32)
    while True:
        key, now = mx.random.split(key)
        yield from mx.random.uniform(shape=(block, width), key=now)
