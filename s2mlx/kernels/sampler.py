"""One draw per sequence from logits, on the device.

Entries of the softmax are sorted, best first, ties by lower index; entry i stays if i < top_k and it is the best one or
the sum up to and including it is at most top_p (at top_p 1 all stay). The logits that stay are divided by the
temperature, and the draw inverts the cumulative distribution at a uniform number that the caller brings, so that a seed
means the same on every backend. Temperature 0 takes the best entry. top_k 0 means no limit.

Repetition: a token that stands in the window, and is not the last column (the end), is drawn once more from the same
logits with other settings and a second uniform number (VALL-E 2, arXiv:2406.05370).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

import mlx.core as mx

from ..device import on_gpu
from . import metal

MAX_TOP_K = 256  # what the kernel's threadgroup memory holds; more than that takes the reference
_SIMDGROUPS = 16


Drawn = tuple[mx.array, mx.array]  # tokens, window


class SamplerSettings(NamedTuple):
    """How to draw. The `again_` pair is for the second draw."""

    temperature: float
    top_p: float
    top_k: int
    again_temperature: float = 1.0
    again_top_p: float = 0.9


def draw(logits: mx.array, uniforms: mx.array, settings: SamplerSettings) -> mx.array:
    """logits [B, n], uniforms float32 [B, 1] in [0, 1) -> int32 [B]."""
    batch = logits.shape[0]
    return _choose(logits, uniforms, _ones(batch, 1), _ones(batch), settings, False)[0]


def draw_semantic(
    logits: mx.array, uniforms: mx.array, window: mx.array, may_end: mx.array, settings: SamplerSettings
) -> Drawn:
    """logits [B, n], uniforms float32 [B, 2], window int32 [B, w], may_end int32 [B] (0 closes the last column)
    -> tokens int32 [B], window with the token at its end and its oldest gone."""
    return _choose(logits, uniforms, window, may_end, settings, True)


def sampler_reference(
    logits: mx.array, uniforms: mx.array, window: mx.array, may_end: mx.array, settings: SamplerSettings, again: bool
) -> Drawn:
    """Both draws in plain MLX, as `draw_semantic`; without `again` neither the window nor `may_end` is looked at."""
    logits, n = logits.astype(mx.float32), logits.shape[1]
    if again:
        logits = mx.where(_only(n, n - 1) & (may_end[:, None] == 0), -mx.inf, logits)
    order = mx.argsort(-logits, axis=-1)
    if 0 < settings.top_k < n:
        order = order[:, : settings.top_k]
    values = mx.take_along_axis(logits, order, axis=-1)
    mass = mx.cumsum(mx.exp(values - mx.logsumexp(logits, axis=-1, keepdims=True)), axis=-1)

    def pick(u: mx.array, temperature: float, top_p: float) -> mx.array:
        if temperature == 0:
            return order[:, :1].view(mx.int32)
        weight = mx.exp((values - values[:, :1]) / temperature)
        if top_p < 1:
            weight = mx.where((mass <= top_p) | _only(values.shape[1], 0), weight, 0)
        cumulative = mx.cumsum(weight, axis=-1)
        rank = mx.sum(cumulative < u * cumulative[:, -1:], axis=-1, keepdims=True)
        return mx.take_along_axis(order, rank, axis=-1).view(mx.int32)

    first, *second = mx.split(uniforms, 2, axis=1) if again else [uniforms]
    tokens = pick(first, settings.temperature, settings.top_p)
    if again:
        other = pick(second[0], settings.again_temperature, settings.again_top_p)
        tokens = mx.where(mx.any(window == tokens, axis=-1, keepdims=True) & (tokens != n - 1), other, tokens)
    return tokens.squeeze(-1), mx.concatenate([window[:, 1:], tokens], axis=-1)


def _choose(
    logits: mx.array, uniforms: mx.array, window: mx.array, may_end: mx.array, settings: SamplerSettings, again: bool
) -> Drawn:
    arguments = logits, uniforms, window, may_end, SamplerSettings(*settings), again
    key = ("sampler", logits.dtype, window.shape[1], again, *metal.few(uniforms, window, may_end))
    if 0 < settings.top_k <= MAX_TOP_K and metal.trusted(key, _launch, sampler_reference, lambda: _sample(arguments)):
        return _launch(*arguments)
    if on_gpu():
        return _compiled(SamplerSettings(*settings), again)(*arguments[:4])
    return sampler_reference(*arguments)


@lru_cache(16)  # settings come from strangers
def _compiled(settings: SamplerSettings, again: bool) -> Callable[[mx.array, mx.array, mx.array, mx.array], Drawn]:
    """The reference with its chains of small operations fused."""
    return mx.compile(
        lambda logits, uniforms, window, may_end: sampler_reference(logits, uniforms, window, may_end, settings, again)
    )


def _launch(
    logits: mx.array, uniforms: mx.array, window: mx.array, may_end: mx.array, settings: SamplerSettings, again: bool
) -> Drawn:
    batch, length = window.shape
    tokens, window = metal.load("sampler.metal")["sampler"](
        [logits, _settings(settings), uniforms, window, may_end],
        grid=(32 * _SIMDGROUPS, batch, 1),
        threadgroup=(32 * _SIMDGROUPS, 1, 1),
        outputs=[((batch,), mx.int32), ((batch, length), mx.int32)],
        T=logits.dtype,
        AGAIN=again,
        WINDOW=length,
        SIMDGROUPS=_SIMDGROUPS,
        LIMIT=MAX_TOP_K,
    )
    return tokens, window


@lru_cache(64)
def _settings(settings: SamplerSettings) -> mx.array:
    return _made(mx.array([*settings, 0, 0, 0], mx.float32))


@cache
def _ones(*shape: int) -> mx.array:
    return _made(mx.ones(shape, mx.int32))


@cache
def _only(n: int, at: int) -> mx.array:
    """False [n], but true at one place."""
    return _made(mx.arange(n) == at)


def _made(constant: mx.array) -> mx.array:
    mx.eval(constant)  # on this thread's stream: another thread could not
    return constant


def _sample(arguments):
    logits, _, window, _, _, again = arguments
    batch = logits.shape[0]
    logits = mx.random.normal((batch, 300), key=mx.random.key(0)) * 3
    uniforms = mx.random.uniform(shape=(batch, 2), key=mx.random.key(1))
    best = mx.argmax(logits, axis=1, keepdims=True).astype(mx.int32)  # in the window of every second row
    tokens = mx.where(mx.arange(batch)[:, None] % 2 == 0, best, -1)
    return (
        logits.astype(arguments[0].dtype),
        uniforms if again else uniforms[:, :1],
        mx.repeat(tokens, window.shape[1], axis=1),
        1 - mx.arange(batch) % 2,
        SamplerSettings(0.8, 0.8, 30),
        again,
    )
