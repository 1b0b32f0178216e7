"""Latents -> waveform: transposed convolutions up to the sample rate, [T, latent] -> [T * product of rates, 1]."""

from __future__ import annotations

import mlx.core as mx

from ..config import CodecConfig
from ..layers.causal_conv import CausalConv, CausalTransposedConv, Snake, StreamState
from ..layers.scope import Scope
from .units import residual_units


class DecoderBlock:
    """snake, transposed conv (k = 2 * stride) that halves the width, 3 residual units."""

    def __init__(self, scope: Scope, stride: int):
        scope = scope.within("block")
        self.snake, self.conv = Snake(scope.within("0")), CausalTransposedConv(scope.within("1.conv"), stride)
        self.units = residual_units(scope, 2)

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        x = self.conv(x, state, snake=self.snake)
        for unit in self.units:
            x = unit(x, state)
        return x


class Decoder:
    def __init__(self, scope: Scope, config: CodecConfig):
        scope = scope.within("model")
        self.first = CausalConv(scope.within("0.conv"))
        self.blocks = [DecoderBlock(scope.within(str(i + 1)), rate) for i, rate in enumerate(config.decoder_rates)]
        last = len(self.blocks) + 1
        self.snake, self.last = Snake(scope.within(str(last))), CausalConv(scope.within(f"{last + 1}.conv"))

    def __call__(self, z: mx.array, state: StreamState) -> mx.array:
        """z [T, latent_dim] -> samples [T * rates, 1] in (-1, 1)."""
        z = self.first(z, state)
        for block in self.blocks:
            z = block(z, state)
        return self.last(z, state, snake=self.snake, tanh=True)
