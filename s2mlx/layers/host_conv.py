"""Causal convolutions in NumPy, for the CPU: what stands around a product of a signal is done while it is in the cache.

x is [T, channels], float32. All cores take rows of it.
"""

from __future__ import annotations

import numpy as np

from ..weights import cores
from .matmul import dense_product, share_parts

_ROWS = 1 << 14  # numbers of a signal that one core takes at a time: they stay in its cache


def with_past(x: np.ndarray, past: np.ndarray, snake: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
    """`past` and below it x, or what Snake makes of x by (alpha, 1 / alpha)."""
    whole = np.empty((len(past) + len(x), x.shape[1]), np.float32)
    whole[: len(past)] = past
    into = whole[len(past) :]
    if snake is None:
        into[...] = x
        return whole
    alpha, inverse = snake

    def work(rows: slice) -> None:
        bend = x[rows] * alpha
        np.sin(bend, out=bend)
        bend *= bend
        bend *= inverse
        np.add(x[rows], bend, out=into[rows])

    step = max(_ROWS // x.shape[1], 1)
    share = cores.share if x.size > 2 * _ROWS else cores.alone
    share(work, [slice(at, at + step) for at in range(0, len(x), step)])
    return whole


def sum_of_taps(
    x: np.ndarray, weight: np.ndarray, taps: list[slice], bias: np.ndarray, tanh: bool, residual: np.ndarray | None
) -> np.ndarray:
    """residual + tanh(sum over k of x[taps[k]] @ weight[k] + bias); what is not asked for is left out."""
    inputs = [x[tap] for tap in taps]
    y = np.empty((len(inputs[0]), weight.shape[2]), np.float32)

    def work(rows: slice, columns: slice) -> None:
        into = y[rows, columns]
        np.matmul(inputs[0][rows], weight[0][:, columns], out=into)
        for tap, w in zip(inputs[1:], weight[1:]):
            into += tap[rows] @ w[:, columns]
        into += bias[columns]
        if tanh:
            np.tanh(into, out=into)
        if residual is not None:
            into += residual[rows, columns]

    share_parts(work, *y.shape, weight.shape[0] * weight.shape[1], len(taps))
    return y


def transposed(whole: np.ndarray, weight: np.ndarray, taps: int, bias: np.ndarray) -> np.ndarray:
    """whole [taps - 1 + T, in], weight [taps * in, n] -> [T, n]."""
    length = len(whole) - taps + 1
    y = dense_product(np.concatenate([whole[i : i + length] for i in range(taps)], axis=1), weight)
    y += bias
    return y
