"""Causal convolutions that run over pieces of a signal. Channels last: x is [T, channels], float32.

There is one form: a layer takes the next piece of its input and a `StreamState`, which holds what the layer needs of
the past. A whole signal is one piece with a fresh state, whose missing past is zeros - the causal padding of the
official code ((k - 1) * dilation + 1 - stride zeros on the left). Pieces of any sizes give the same samples.

A strided layer needs pieces whose length is a multiple of its stride.

What stands around a convolution - Snake before it, tanh and residual after it - is given with the call: the Metal
kernel does all of it in one launch, and NumPy on the CPU while it is in the cache (`host_conv`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
import numpy as np

from ..device import on_gpu
from ..kernels import conv as kernel
from ..weights.tensor import Tensor
from . import host_conv
from .conv_trial import kernels_win
from .elementwise import snake as snake_function
from .matmul import host_blas, matmul
from .scope import Scope
from .short_cache import WindowCache


@dataclass
class StreamState:
    """What the layers of one stream remember, by the layer's name. Sizes are constant once every layer has run."""

    tails: dict[str, mx.array] = field(default_factory=dict)
    caches: dict[str, WindowCache] = field(default_factory=dict)

    @property
    def arrays(self) -> list[mx.array]:
        return [*self.tails.values(), *(a for c in self.caches.values() for a in c.arrays)]


class Snake:
    """x + sin^2(alpha x) / alpha, one alpha per channel (Ziyin et al. 2020)."""

    def __init__(self, scope: Scope):
        self.alpha = scope.array("alpha").reshape(-1)
        self.inverse = 1.0 / (self.alpha + 1e-9)
        mx.eval(self.alpha, self.inverse)

    def __call__(self, x: mx.array) -> mx.array:
        return snake_function(x, self.alpha, self.inverse)


class CausalConv:
    """Weights [out, in, k] as PyTorch's Conv1d has them, bias [out]."""

    def __init__(self, scope: Scope, stride: int = 1, dilation: int = 1):
        self.name, self.stride, self.dilation = scope.prefix, stride, dilation
        self.fused = stride == 1 and kernels_win()
        weight = _taken(scope)
        out, inner, self.kernel = weight.shape
        self.bias = _bias(scope, out)
        self.reach = (self.kernel - 1) * dilation + 1  # input rows that one output row sees
        # MLX's own convolution, on a GPU, wants [out, k, in]; a sum of taps and our kernel [k, in, out]
        self.by_mlx = on_gpu() and not self.fused
        self.weight: Any  # mx.array, or where NumPy multiplies its own
        if isinstance(weight, mx.array):
            self.weight = mx.contiguous(weight.transpose((0, 2, 1) if self.by_mlx else (2, 1, 0)))
        else:
            self.weight = _host(weight.arranged((self.kernel, inner, out), 2, lambda w: w.transpose(2, 1, 0)))
        mx.eval(*_of_mlx(self.weight, self.bias))

    def __call__(
        self,
        x: mx.array,
        state: StreamState,
        *,
        snake: Snake | None = None,
        tanh: bool = False,
        residual: mx.array | None = None,
    ) -> mx.array:
        """x [T, in] -> residual + tanh(conv(snake(x))) [T / stride, out]; what is not asked for is left out."""
        if self.fused:
            past = state.tails.get(self.name)
            past = kernel.start(self.weight, self.dilation) if past is None else past
            y, past = kernel.conv(
                x,
                past,
                self.weight,
                self.bias,
                dilation=self.dilation,
                residual=residual,
                alpha=None if snake is None else snake.alpha,
                activation="tanh" if tanh else None,
            )
            if past is not None:
                state.tails[self.name] = past
            return y
        if isinstance(self.weight, np.ndarray) and host_blas():
            whole = _host_with_past(x, self.reach - self.stride, self.name, state, snake)
            taps, bias = self._taps(len(whole)), np.asarray(self.bias)
            beside = None if residual is None else np.asarray(residual)
            return mx.array(host_conv.sum_of_taps(whole, self.weight, taps, bias, tanh, beside))
        x = _with_past(x if snake is None else snake(x), self.reach - self.stride, self.name, state)
        y = self._convolve(x) + self.bias
        y = mx.tanh(y) if tanh else y
        return y if residual is None else residual + y

    def _convolve(self, x: mx.array) -> mx.array:
        if self.by_mlx:
            return mx.conv1d(x[None], self.weight.astype(x.dtype), stride=self.stride, dilation=self.dilation)[0]
        # MLX's dilated convolution on the CPU is a scalar loop; a sum of taps has the same numbers 5 to 70 times faster
        first, *others = (x[tap] @ mx.array(w) for tap, w in zip(self._taps(x.shape[0]), self.weight))
        return sum(others, first)

    def _taps(self, rows: int) -> list[slice]:
        """The rows that each tap meets."""
        last = (rows - self.reach) // self.stride * self.stride
        return [slice(at, at + last + 1, self.stride) for at in range(0, self.reach, self.dilation)]


class CausalTransposedConv:
    """Weights [in, out, k] as PyTorch's ConvTranspose1d has them, cut by k - stride samples on the right.

    Output block t (stride rows) is a product of the last ceil(k / stride) inputs, so no overlap has to be added up: the
    same as a convolution with stride * out channels.
    """

    def __init__(self, scope: Scope, stride: int):
        self.name, self.stride = scope.prefix, stride
        self.fused = kernels_win()
        weight = _taken(scope)
        inner, self.out, size = weight.shape
        self.taps, bias = -(-size // stride), _bias(scope, self.out)
        # [taps, in, stride * out], the newest input's tap last
        self.weight: Any  # mx.array, or where NumPy multiplies its own
        if isinstance(weight, mx.array):
            plain, self.bias = kernel.transposed_weights(weight.transpose(2, 0, 1), bias, stride)
            # without kernels one product over the inputs side by side
            self.weight = mx.contiguous(plain if self.fused else plain.reshape(-1, stride * self.out))
        else:
            more = (0, 0), (0, 0), (0, self.taps * stride - size)

            def turn(w: np.ndarray) -> np.ndarray:
                w = np.pad(w, more) if more[2][1] else w
                return w.reshape(len(w), self.out, self.taps, stride)[:, :, ::-1].transpose(2, 0, 3, 1)

            laid = weight.arranged((self.taps, inner, stride, self.out), 1, turn)
            self.weight, self.bias = _host(laid.reshape(-1, stride * self.out)), mx.tile(bias, stride)
        mx.eval(*_of_mlx(self.weight, self.bias))

    def __call__(self, x: mx.array, state: StreamState, *, snake: Snake | None = None) -> mx.array:
        """x [T, in] -> conv(snake(x)) [T * stride, out]."""
        length = x.shape[0]
        if self.fused:
            past = state.tails.get(self.name)
            past = kernel.start(self.weight) if past is None else past
            y, past = kernel.conv_transpose(
                x, past, self.weight, self.bias, self.stride, alpha=None if snake is None else snake.alpha
            )
            if past is not None:
                state.tails[self.name] = past
            return y
        if isinstance(self.weight, np.ndarray) and host_blas():
            whole = _host_with_past(x, self.taps - 1, self.name, state, snake)
            made = host_conv.transposed(whole, self.weight, self.taps, np.asarray(self.bias))
            return mx.array(made.reshape(length * self.stride, self.out))
        x = _with_past(x if snake is None else snake(x), self.taps - 1, self.name, state)
        window = mx.concatenate([x[i : i + length] for i in range(self.taps)], axis=1)
        weight = self.weight.astype(x.dtype) if isinstance(self.weight, mx.array) else self.weight
        return (matmul(window, weight) + self.bias).reshape(length * self.stride, self.out)


class DepthwiseCausalConv:
    """One kernel per channel, weights [channels, 1, k], bias [channels]."""

    def __init__(self, scope: Scope):
        self.name = scope.prefix
        self.weight, self.bias = mx.contiguous(scope.array("weight")[:, 0].T), scope.array("bias")
        mx.eval(self.weight, self.bias)

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        """x [T, channels] -> same."""
        length, kernel = x.shape[0], self.weight.shape[0]
        x = _with_past(x, kernel - 1, self.name, state)
        return sum(x[k : k + length] * self.weight[k] for k in range(kernel)) + self.bias


def _taken(scope: Scope) -> mx.array | Tensor:
    """A large weight. On a GPU in the file's own float type, which our kernels read and which is cast for MLX's
    products as it is used: float32 would take more memory than the file has bytes. On the CPU as the file has it, to be
    laid out."""
    return scope.floats("weight") if on_gpu() else scope.tensor("weight")


def _host(weight: np.ndarray) -> np.ndarray | mx.array:
    """As it is multiplied on the CPU: where NumPy does that MLX gets no copy of its own."""
    return weight if host_blas() else mx.array(weight)


def _of_mlx(*arrays: np.ndarray | mx.array) -> list[mx.array]:
    return [a for a in arrays if isinstance(a, mx.array)]


def _bias(scope: Scope, channels: int) -> mx.array:
    return scope.array("bias") if scope.has("bias") else mx.zeros(channels)


def _with_past(x: mx.array, rows: int, name: str, state: StreamState) -> mx.array:
    """Prefix x with the last `rows` rows that came before it, and remember its own last ones."""
    if rows == 0:
        return x
    past = state.tails.get(name)
    x = mx.concatenate([mx.zeros((rows, x.shape[1]), x.dtype) if past is None else past, x])
    state.tails[name] = mx.contiguous(x[x.shape[0] - rows :])
    return x


def _host_with_past(x: mx.array, rows: int, name: str, state: StreamState, snake: Snake | None) -> np.ndarray:
    """As `_with_past` of snake(x), in NumPy's memory."""
    past = state.tails.get(name)
    before = np.zeros((rows, x.shape[1]), np.float32) if past is None else np.asarray(past)
    bend = None if snake is None else (np.asarray(snake.alpha), np.asarray(snake.inverse))
    whole = host_conv.with_past(np.asarray(x.astype(mx.float32)), before, bend)
    if rows:
        state.tails[name] = mx.array(whole[-rows:])
    return whole
