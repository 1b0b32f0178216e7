"""Causal convolutions that run over pieces of a signal. Channels last: x is [T, channels], float32.

There is one form: a layer takes the next piece of its input and a `StreamState`, which holds what the layer needs of
the past. A whole signal is one piece with a fresh state, whose missing past is zeros - the causal padding of the
official code ((k - 1) * dilation + 1 - stride zeros on the left). Pieces of any sizes give the same samples.

A strided layer needs pieces whose length is a multiple of its stride.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np

from .elementwise import snake
from .matmul import host_blas, matmul


@dataclass
class StreamState:
    """What the layers of one stream remember, by the layer's name. Sizes are constant once every layer has run."""

    tails: dict[str, mx.array] = field(default_factory=dict)
    caches: dict[str, object] = field(default_factory=dict)

    @property
    def arrays(self) -> list[mx.array]:
        return [*self.tails.values(), *(a for c in self.caches.values() for a in c.arrays)]


class CausalConv:
    """Weights [out, in, k] as PyTorch's Conv1d has them, bias [out]."""

    def __init__(self, scope, stride: int = 1, dilation: int = 1):
        self.name, self.stride, self.dilation = scope.prefix, stride, dilation
        weight = scope.array("weight")
        self.bias = scope.array("bias") if scope.has("bias") else None
        self.kernel = weight.shape[2]
        self.reach = (self.kernel - 1) * dilation + 1  # input rows that one output row sees
        # [k, in, out] for a sum of taps (MLX's own dilated convolution on the CPU is a scalar loop),
        # [out, k, in] for the GPU's convolution
        self.on_cpu = mx.default_device() == mx.Device(mx.cpu)
        self.weight = mx.contiguous(weight.transpose(2, 1, 0) if self.on_cpu else weight.transpose(0, 2, 1))
        mx.eval(self.weight)

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        """x [T, in] -> [T / stride, out]."""
        x = _with_past(x, self.reach - self.stride, self.name, state)
        if not self.on_cpu:
            y = mx.conv1d(x[None], self.weight, stride=self.stride, dilation=self.dilation)[0]
            return y if self.bias is None else y + self.bias
        length = (x.shape[0] - self.reach) // self.stride + 1
        taps = [slice(k * self.dilation, k * self.dilation + (length - 1) * self.stride + 1, self.stride)
                for k in range(self.kernel)]
        y = _sum_of_taps_host(x, self.weight, taps) if host_blas() else sum(x[t] @ w for t, w in zip(taps, self.weight))
        return y if self.bias is None else y + self.bias


class CausalTransposedConv:
    """Weights [in, out, k] as PyTorch's ConvTranspose1d has them, cut by k - stride samples on the right.

    Output block t (stride rows) is a product of the last ceil(k / stride) inputs, so no overlap has to be added up.
    """

    def __init__(self, scope, stride: int):
        self.name, self.stride = scope.prefix, stride
        weight = scope.array("weight")  # [in, out, k]
        self.bias = scope.array("bias") if scope.has("bias") else None
        channels, out, kernel = weight.shape
        self.blocks, self.out = -(-kernel // stride), out
        weight = mx.pad(weight, [(0, 0), (0, 0), (0, self.blocks * stride - kernel)])
        # newest input first in the kernel, last in the window: [blocks * in, stride * out]
        weight = weight.reshape(channels, out, self.blocks, stride).transpose(2, 0, 3, 1)[::-1]
        self.weight = mx.contiguous(weight.reshape(self.blocks * channels, stride * out))
        mx.eval(self.weight)

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        """x [T, in] -> [T * stride, out]."""
        length = x.shape[0]
        x = _with_past(x, self.blocks - 1, self.name, state)
        window = mx.concatenate([x[i : i + length] for i in range(self.blocks)], axis=1)
        y = matmul(window, self.weight).reshape(length * self.stride, self.out)
        return y if self.bias is None else y + self.bias


class DepthwiseCausalConv:
    """One kernel per channel, weights [channels, 1, k], bias [channels]."""

    def __init__(self, scope):
        self.name = scope.prefix
        self.weight, self.bias = mx.contiguous(scope.array("weight")[:, 0].T), scope.array("bias")
        mx.eval(self.weight)

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        """x [T, channels] -> same."""
        length, kernel = x.shape[0], self.weight.shape[0]
        x = _with_past(x, kernel - 1, self.name, state)
        return sum(x[k : k + length] * self.weight[k] for k in range(kernel)) + self.bias


class Snake:
    """x + sin^2(alpha x) / alpha, one alpha per channel (Ziyin et al. 2020)."""

    def __init__(self, scope, name: str = "alpha"):
        self.alpha = scope.array(name).reshape(-1)
        self.inverse = 1.0 / (self.alpha + 1e-9)
        mx.eval(self.inverse)

    def __call__(self, x: mx.array) -> mx.array:
        return snake(x, self.alpha, self.inverse)


def _with_past(x: mx.array, rows: int, name: str, state: StreamState) -> mx.array:
    """Prefix x with the last `rows` rows that came before it, and remember its own last ones."""
    if rows == 0:
        return x
    past = state.tails.get(name)
    x = mx.concatenate([mx.zeros((rows, x.shape[1]), x.dtype) if past is None else past, x])
    state.tails[name] = mx.contiguous(x[x.shape[0] - rows :])
    return x


def _sum_of_taps_host(x: mx.array, weight: mx.array, taps: list[slice]) -> mx.array:
    x, weight = np.asarray(x), np.asarray(weight)
    y = x[taps[0]] @ weight[0]
    for tap, w in zip(taps[1:], weight[1:]):
        y += x[tap] @ w
    return mx.array(y)
