"""ConvNeXt block: x + gamma * down(GELU(up(LayerNorm(depthwise(x))))) (Liu et al. 2022), three launches.

Channels last, float32: x [T, C], past [K - 1, C] as in `conv`.
"""

from __future__ import annotations

from typing import NamedTuple

import mlx.core as mx

from . import metal
from .conv import conv

_THREADS = 256


class Weights(NamedTuple):
    """depthwise [K, C] and bias [C]; LayerNorm's gain and shift [C]; up [C, H], down [H, C] with biases; gamma [C]."""

    depthwise: mx.array
    bias: mx.array
    gain: mx.array
    shift: mx.array
    up: mx.array
    up_bias: mx.array
    down: mx.array
    down_bias: mx.array
    gamma: mx.array


def convnext(x: mx.array, past: mx.array, weights: Weights, eps: float = 1e-6) -> tuple[mx.array, mx.array]:
    """-> (y [T, C], next past)."""
    w = weights
    y, past = depthwise_norm(x, past, w.depthwise, w.bias, w.gain, w.shift, eps)
    y, _ = conv(y, None, w.up[None], w.up_bias, activation="gelu")
    y, _ = conv(y, None, w.down[None], w.down_bias, gamma=w.gamma, residual=x)
    return y, past


def depthwise_norm(
    x: mx.array, past: mx.array, weight: mx.array, bias: mx.array, gain: mx.array, shift: mx.array, eps: float
) -> tuple[mx.array, mx.array]:
    """LayerNorm of the depthwise causal convolution, weight [K, C] -> (y [T, C], next past)."""
    arguments = x, past, weight, bias, gain, shift, eps
    if metal.trusted(
        ("depthwise_norm", x.dtype, weight.dtype, weight.shape),
        _launch,
        depthwise_norm_reference,
        lambda: (_sample(x, 3), _sample(past), *map(_sample, arguments[2:6]), eps),
    ):
        return _launch(*arguments)
    return depthwise_norm_reference(*arguments)


def depthwise_norm_reference(x, past, weight, bias, gain, shift, eps):
    """`depthwise_norm` in plain MLX."""
    length, taps = x.shape[0], weight.shape[0]
    whole = mx.concatenate([past, x])
    y = sum(whole[k : k + length] * weight[k] for k in range(taps)) + bias
    return mx.fast.layer_norm(y, gain, shift, eps), mx.contiguous(whole[length:])


def _launch(x, past, weight, bias, gain, shift, eps):
    (length, channels), taps = x.shape, weight.shape[0]
    return metal.load("convnext.metal")["depthwise_norm"](
        [x, past, weight, bias, gain, shift, metal.scalar(eps)],
        grid=(_THREADS, length, 1),
        threadgroup=(_THREADS, 1, 1),
        outputs=[((length, channels), mx.float32), ((taps - 1, channels), mx.float32)],
        C=channels,
        K=taps,
    )


def _sample(like: mx.array, rows: int | None = None) -> mx.array:
    shape = like.shape if rows is None else (rows, *like.shape[1:])
    return mx.random.normal(shape, key=mx.random.key(like.ndim)).astype(like.dtype)
