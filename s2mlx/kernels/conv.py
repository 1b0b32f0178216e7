"""Causal convolutions over pieces of a signal, with Snake before and bias, activation, gain and residual after them.

Channels last, float32: x [T, in], weight [K, in, out] of any float type, tap K - 1 on the newest row. `past` is what
the layer remembers: the last (K - 1) * dilation rows of its input, zeros at the start of a signal, None when there are
none (K = 1); each call returns the next one. Pieces of any sizes give the same samples.

A transposed convolution that is cut by kernel - stride samples on the right gives, for each input row, `stride` output
rows that depend on the last ceil(kernel / stride) inputs: a plain convolution with stride * out channels. No overlap to
add.
"""

from __future__ import annotations

import math

import mlx.core as mx

from . import metal

ACTIVATIONS = (None, "gelu", "tanh")


def conv(
    x: mx.array,
    past: mx.array | None,
    weight: mx.array,
    bias: mx.array,
    *,
    dilation: int = 1,
    alpha: mx.array | None = None,
    activation: str | None = None,
    gamma: mx.array | None = None,
    residual: mx.array | None = None,
) -> tuple[mx.array, mx.array | None]:
    """-> (residual + gamma * activation(conv(snake(x, alpha)) + bias) [T, out], next past); None is left out."""
    arguments = x, past, weight, bias, dilation, alpha, activation, gamma, residual
    key = (
        "conv",
        x.dtype,
        weight.dtype,
        weight.shape[0],
        dilation,
        _tile(x.shape[0], weight.shape[2]),
        alpha is None,
        activation,
        gamma is None,
        residual is None,
    )
    if metal.trusted(key, _launch, conv_reference, lambda: _sample(*arguments)):
        return _launch(*arguments)
    return conv_reference(*arguments)


def conv_transpose(
    x: mx.array, past: mx.array | None, weight: mx.array, bias: mx.array, stride: int, *, alpha: mx.array | None = None
) -> tuple[mx.array, mx.array | None]:
    """weight and bias from `transposed_weights`; -> (y [T * stride, out], next past [taps - 1, in])."""
    y, past = conv(x, past, weight, bias, alpha=alpha)
    return y.reshape(x.shape[0] * stride, -1), past


def transposed_weights(weight: mx.array, bias: mx.array, stride: int) -> tuple[mx.array, mx.array]:
    """Of a transposed convolution [K, in, out] and its bias [out] -> those of the plain one that does the same."""
    k, channels, out = weight.shape
    taps = -(-k // stride)
    weight = mx.pad(weight, [(0, taps * stride - k), (0, 0), (0, 0)]).reshape(taps, stride, channels, out)[::-1]
    return mx.contiguous(weight.transpose(0, 2, 1, 3)).reshape(taps, channels, stride * out), mx.tile(bias, stride)


def start(weight: mx.array, dilation: int = 1) -> mx.array | None:
    """The past of a signal that begins."""
    rows = (weight.shape[0] - 1) * dilation
    return mx.zeros((rows, weight.shape[1])) if rows else None


def conv_reference(x, past, weight, bias, dilation=1, alpha=None, activation=None, gamma=None, residual=None):
    """`conv` in plain MLX: a sum of taps, since MLX's dilated convolution is slow on the CPU."""
    length = x.shape[0]
    whole = x if past is None else mx.concatenate([past, x])
    next_past = None if past is None else mx.contiguous(whole[length:])
    if alpha is not None:
        whole = whole + mx.square(mx.sin(whole * alpha)) / (alpha + 1e-9)
    taps = [whole[k * dilation : k * dilation + length] for k in range(weight.shape[0])]
    y = sum(tap @ w.astype(mx.float32) for tap, w in zip(taps, weight)) + bias
    if activation == "gelu":
        y = y * (1 + mx.erf(y * math.sqrt(0.5))) * 0.5
    elif activation == "tanh":
        y = mx.tanh(y)
    if gamma is not None:
        y = y * gamma
    return y if residual is None else residual + y, next_past


def _launch(x, past, weight, bias, dilation, alpha, activation, gamma, residual):
    (length, channels), (taps, _, out) = x.shape, weight.shape
    wm, wn, tm, tn = _tile(length, out)
    optional = lambda a: bias if a is None else a  # an input that the kernel does not read still needs an array,
    past_rows = max(1, (taps - 1) * dilation)  # and so does an output that it does not write
    y, next_past = metal.load("conv.metal")["conv"](
        [x, x if past is None else past, weight, optional(alpha), bias, optional(gamma), optional(residual)],
        grid=(32 * wm * wn * metal.groups(out, 8 * tn * wn), metal.groups(length, 8 * tm * wm), 1),
        threadgroup=(32 * wm * wn, 1, 1),
        outputs=[((length, out), mx.float32), ((past_rows, channels), mx.float32)],
        K=taps,
        DILATION=dilation,
        SNAKE=alpha is not None,
        ACTIVATION=ACTIVATIONS.index(activation),
        GAMMA=gamma is not None,
        RESIDUAL=residual is not None,
        WM=wm,
        WN=wn,
        TM=tm,
        TN=tn,
    )
    return y, None if past is None else next_past


def _tile(length: int, out: int) -> tuple[int, int, int, int]:
    """Rows and columns of simdgroups, and of 8 x 8 matrices in each: flat for a short piece, large for a long one."""
    if length <= 8:
        return 1, 4, 1, 2
    if length <= 32:
        return 2, 2, 2, 2
    return 2, 2, 4, 3 if out % 48 == 0 else 4 if out % 64 == 0 else 2


def _sample(x, past, weight, bias, dilation, alpha, activation, gamma, residual):
    keys = mx.random.split(mx.random.key(0), 7)
    channels, out, length = 40, weight.shape[2], min(x.shape[0], 70)  # a sample that takes the same tile
    normal = lambda i, like, *shape: None if like is None else mx.random.normal(shape, key=keys[i]).astype(like.dtype)
    return (
        normal(0, x, length, channels),
        normal(1, past, (weight.shape[0] - 1) * dilation, channels),
        normal(2, weight, weight.shape[0], channels, out),
        normal(3, bias, out),
        dilation,
        normal(4, alpha, channels),
        activation,
        normal(5, gamma, out),
        normal(6, residual, length, out),
    )
