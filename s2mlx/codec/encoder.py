"""Waveform -> latents: strided convolutions down to one latent per hop (512 samples), [T, 1] -> [T / hop, latent]."""

from __future__ import annotations

import dataclasses

import mlx.core as mx

from ..config import CodecConfig, TransformerConfig
from ..layers.causal_conv import CausalConv, Snake, StreamState
from ..layers.scope import Scope
from .units import WindowTransformer, residual_units


class EncoderBlock:
    """3 residual units, snake, strided conv (k = 2 * stride) that doubles the width, then transformer layers if any."""

    def __init__(self, scope: Scope, stride: int, transformer: TransformerConfig | None, rope_dtype: mx.Dtype):
        scope = scope.within("block")
        self.units = residual_units(scope, 0)
        self.snake, self.conv = Snake(scope.within("3")), CausalConv(scope.within("4.conv"), stride=stride)
        self.transformer = transformer and WindowTransformer(scope.within("5"), transformer, rope_dtype)

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        for unit in self.units:
            x = unit(x, state)
        x = self.conv(x, state, snake=self.snake)
        return self.transformer(x, state) if self.transformer else x


class Encoder:
    def __init__(self, scope: Scope, config: CodecConfig, rope_dtype: mx.Dtype):
        scope = scope.within("block")
        self.first = CausalConv(scope.within("0.conv"))
        self.blocks, width = [], config.encoder_dim
        for i, (stride, layers) in enumerate(zip(config.encoder_rates, config.encoder_transformer_layers)):
            width *= 2
            transformer = _transformer(config, width, layers) if layers else None
            self.blocks.append(EncoderBlock(scope.within(str(i + 1)), stride, transformer, rope_dtype))
        last = len(self.blocks) + 1
        self.snake, self.last = Snake(scope.within(str(last))), CausalConv(scope.within(f"{last + 1}.conv"))

    def __call__(self, x: mx.array, state: StreamState) -> mx.array:
        """x [T, 1], T a multiple of the hop -> latents [T / hop, latent_dim]."""
        x = self.first(x, state)
        for block in self.blocks:
            x = block(x, state)
        return self.last(x, state, snake=self.snake)


def _transformer(config: CodecConfig, width: int, layers: int) -> TransformerConfig:
    heads = width // config.transformer_head_dim
    return dataclasses.replace(
        config.rvq,
        dim=width,
        layers=layers,
        heads=heads,
        kv_heads=heads,
        head_dim=config.transformer_head_dim,
        rope_base=config.transformer_rope_base,
        norm_eps=config.transformer_norm_eps,
        window=config.encoder_window,
    )
