"""Building blocks that encoder, decoder and quantizer share. x is [T, channels] throughout."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from ..config import TransformerConfig
from ..device import on_gpu
from ..kernels import convnext as kernel
from ..layers.causal_conv import CausalConv, DepthwiseCausalConv, Snake, StreamState
from ..layers.conv_trial import kernels_win
from ..layers.elementwise import gelu, scaled_residual
from ..layers.linear import Linear
from ..layers.matmul import matmul
from ..layers.scope import Scope
from ..layers.short_cache import WindowCache
from ..layers.transformer import Transformer

NORM_EPS = 1e-6  # of the LayerNorm in ConvNeXt


class ResidualUnit:
    """snake, conv k7 dilated, snake, conv k1, skip."""

    def __init__(self, scope: Scope, dilation: int):
        scope = scope.within("block")
        self.snake1, self.conv1 = Snake(scope.within("0")), CausalConv(scope.within("1.conv"), dilation=dilation)
        self.snake2, self.conv2 = Snake(scope.within("2")), CausalConv(scope.within("3.conv"))

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        return self.conv2(self.conv1(x, state, snake=self.snake1), state, snake=self.snake2, residual=x)


def residual_units(scope: Scope, first: int) -> list[ResidualUnit]:
    """The three units of an encoder or decoder block, at `first`, `first` + 1, `first` + 2 of its sequence."""
    return [ResidualUnit(scope.within(str(first + i)), dilation) for i, dilation in enumerate((1, 3, 9))]


class ConvNeXt:
    """depthwise k7, LayerNorm, linear x4, exact GELU, linear, gamma, skip (Liu et al. 2022)."""

    def __init__(self, scope: Scope):
        self.depthwise = DepthwiseCausalConv(scope.within("dwconv.conv"))
        self.norm_weight, self.norm_bias = scope.array("norm.weight"), scope.array("norm.bias")
        kept: Any = _transposed if on_gpu() else Scope.matrix
        self.up, self.up_bias = kept(scope, "pwconv1.weight"), scope.array("pwconv1.bias")
        self.down, self.down_bias = kept(scope, "pwconv2.weight"), scope.array("pwconv2.bias")
        self.gamma = scope.array("gamma")
        self.fused = None
        if kernels_win():
            self.fused = kernel.Weights(
                self.depthwise.weight,
                self.depthwise.bias,
                self.norm_weight,
                self.norm_bias,
                self.up,
                self.up_bias,
                self.down,
                self.down_bias,
                self.gamma,
            )

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        if self.fused is not None:
            name = self.depthwise.name
            past = state.tails.get(name)
            past = mx.zeros((self.fused.depthwise.shape[0] - 1, x.shape[1])) if past is None else past
            y, state.tails[name] = kernel.convnext(x, past, self.fused, NORM_EPS)
            return y
        y = mx.fast.layer_norm(self.depthwise(x, state), self.norm_weight, self.norm_bias, NORM_EPS)
        y = gelu(_times(y, self.up) + self.up_bias)
        return scaled_residual(x, _times(y, self.down) + self.down_bias, self.gamma)


class WindowTransformer:
    """A stack of blocks with window-limited causal attention and a final RMSNorm."""

    def __init__(self, scope: Scope, config: TransformerConfig, rope_dtype: mx.Dtype):
        assert config.window is not None  # every transformer of the codec has one
        self.name, self.config, self.window = scope.prefix, config, config.window
        self.stack = Transformer(scope, config, rope_dtype)
        self.norm = scope.array("norm.weight")

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        cache = state.caches.get(self.name)
        if cache is None:
            cache = state.caches[self.name] = WindowCache(self.config.layers, self.window)
        return mx.fast.rms_norm(self.stack(x, 1, cache), self.norm, self.config.norm_eps)


def _transposed(scope: Scope, name: str) -> mx.array:
    """A matrix [out, in] of the file's own float type as [in, out], laid out so: for a GPU."""
    weight = mx.contiguous(scope.floats(name).T)
    mx.eval(weight)
    return weight


def _times(x: mx.array, w: mx.array | Linear) -> mx.array:
    return w(x) if isinstance(w, Linear) else matmul(x, w.astype(x.dtype))
