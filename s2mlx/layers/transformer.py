"""The pre-norm transformer block that all three networks share, and a stack of them.

h = x + scale_a * wo(attention(rms(x)));  y = h + scale_f * w2(silu(w1(rms(h))) * w3(rms(h)))
with the per-channel layer scales of the codec's blocks only. Fused wqkv rows are [q | k | v]; q and k are
RMS-normalised over head_dim when the model has q/k norm, then rotated.

Inside a stack a pass is rows: x [N, dim] with N = B * T, row b * T + t. Only attention sees sequences.

Weights come through a `scope` (see `layers.scope`).
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from .. import device
from ..config import TransformerConfig
from ..kernels.qmv import MOST_VECTORS
from .cache import Cache
from .elementwise import scaled_residual
from .heads import Heads
from .linear import Linear
from .products import SwiGLU, added, normed
from .rope import Rope
from .scope import Scope


class Block:
    def __init__(self, scope: Scope, config: TransformerConfig):
        attention, feed_forward = scope.within("attention"), scope.within("feed_forward")
        self.eps = config.norm_eps
        self.wqkv, self.wo = attention.linear("wqkv"), attention.linear("wo")
        gains = (attention.vector("q_norm"), attention.vector("k_norm")) if config.qk_norm else (None, None)
        self.heads = Heads(config, *gains)
        self.w13, self.w2 = SwiGLU(feed_forward), feed_forward.linear("w2")
        self.attention_norm, self.ffn_norm = scope.vector("attention_norm"), scope.vector("ffn_norm")
        self.attention_scale = self.ffn_scale = None
        if scope.has("attention_layer_scale.gamma"):
            self.attention_scale = scope.vector("attention_layer_scale.gamma")
            self.ffn_scale = scope.vector("ffn_layer_scale.gamma")

    def __call__(self, x: mx.array, batch: int, layer: int, table: Any, cache: Cache) -> mx.array:
        """x [B * T, dim] -> same."""
        qkv = normed(self.wqkv, x, self.attention_norm, self.eps)
        x = _residual(self.wo, cache.attend(layer, qkv, batch, self.heads, table), x, self.attention_scale)
        return _residual(self.w2, self.w13(x, self.ffn_norm, self.eps), x, self.ffn_scale)


def _residual(linear: Linear, x: mx.array, residual: mx.array, scale: mx.array | None) -> mx.array:
    return added(linear, x, residual) if scale is None else scaled_residual(residual, linear(x), scale)


class Transformer:
    """A stack of blocks without its final norm: `prefix`.i of the scope holds block i."""

    def __init__(self, scope: Scope, config: TransformerConfig, rope_dtype: mx.Dtype, prefix: str = "layers"):
        self.blocks = [Block(scope.within(f"{prefix}.{i}"), config) for i in range(config.layers)]
        self.rope = Rope(config.head_dim, config.rope_base, rope_dtype) if self.blocks else None

    def __call__(self, x: mx.array, batch: int, cache: Cache) -> mx.array:
        """x [B * T, dim] at the cache's offset -> same; the cache moves on by T."""
        if self.rope is None:  # no blocks
            return x
        length = x.shape[0] // batch
        table = cache.rotation(self.rope, self.blocks[0].heads, batch, length)
        # A long pass opens whole matrices, and MLX keeps what a command buffer uses until that is done: block by block,
        # so that the matrices of one are in memory, not those of all that fit into a buffer.
        opens = x.shape[0] > MOST_VECTORS and device.kernels_available()
        for layer, block in enumerate(self.blocks):
            x = block(x, batch, layer, table, cache)
            if opens:
                mx.eval(x)
        cache.advance(length)
        return x
