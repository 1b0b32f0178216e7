"""The pre-norm transformer block that all three networks share, and a stack of them.

h = x + scale_a * wo(attention(rms(x)));  y = h + scale_f * w2(silu(w1(rms(h))) * w3(rms(h)))
with the per-channel layer scales of the codec's blocks only. Fused wqkv rows are [q | k | v]; q and k are
RMS-normalised over head_dim when the model has q/k norm, then rotated.

Weights come through a `scope`: `scope.linear(name)`, `scope.stack(*names)` (rows concatenated into one product),
`scope.vector(name)` float32, `scope.has(name)`.
"""

from __future__ import annotations

import mlx.core as mx

from ..config import TransformerConfig
from .rope import Rope, rotate


class Attention:
    def __init__(self, scope, config: TransformerConfig):
        self.heads, self.kv_heads, self.head_dim = config.heads, config.kv_heads, config.head_dim
        self.scale, self.eps = config.head_dim**-0.5, config.norm_eps
        self.wqkv, self.wo = scope.linear("wqkv"), scope.linear("wo")
        self.qk_norm = None
        if config.qk_norm:  # one weight row per head, so that q and k are normalised together
            rows = [scope.vector("q_norm")] * self.heads + [scope.vector("k_norm")] * self.kv_heads
            self.qk_norm = mx.stack(rows)
            mx.eval(self.qk_norm)

    def __call__(self, x: mx.array, layer: int, table: mx.array, cache) -> mx.array:
        """x [B, T, dim], already normalised -> [B, T, dim]."""
        batch, length, _ = x.shape
        heads, rotated, dim = self.heads, self.heads + self.kv_heads, self.head_dim
        qkv = self.wqkv(x).reshape(batch, length, rotated + self.kv_heads, dim)
        qk, v = qkv[:, :, :rotated], qkv[:, :, rotated:]
        if self.qk_norm is not None:
            qk = mx.fast.rms_norm(qk, None, self.eps) * self.qk_norm
        qk, v = _heads_first(rotate(qk, table)), _heads_first(v)
        out = cache.attend(layer, qk[:, :heads], qk[:, heads:], v, self.scale)
        return self.wo(_heads_last(out))


class FeedForward:
    """SwiGLU: w2(silu(w1 x) * w3 x), w1 and w3 in one product."""

    def __init__(self, scope):
        self.w13, self.w2 = scope.stack("w1", "w3"), scope.linear("w2")

    def __call__(self, x: mx.array) -> mx.array:
        gate, up = mx.split(self.w13(x), 2, axis=-1)
        return self.w2(gate * mx.sigmoid(gate) * up)


class Block:
    def __init__(self, scope, config: TransformerConfig):
        self.eps = config.norm_eps
        self.attention = Attention(scope.within("attention"), config)
        self.feed_forward = FeedForward(scope.within("feed_forward"))
        self.attention_norm, self.ffn_norm = scope.vector("attention_norm"), scope.vector("ffn_norm")
        self.attention_scale = self.ffn_scale = None
        if scope.has("attention_layer_scale.gamma"):
            self.attention_scale = scope.vector("attention_layer_scale.gamma")
            self.ffn_scale = scope.vector("ffn_layer_scale.gamma")

    def __call__(self, x: mx.array, layer: int, table: mx.array, cache) -> mx.array:
        branch = self.attention(mx.fast.rms_norm(x, self.attention_norm, self.eps), layer, table, cache)
        x = x + (branch if self.attention_scale is None else branch * self.attention_scale)
        branch = self.feed_forward(mx.fast.rms_norm(x, self.ffn_norm, self.eps))
        return x + (branch if self.ffn_scale is None else branch * self.ffn_scale)


class Transformer:
    """A stack of blocks without its final norm: `scope.within("layers.i")` holds block i."""

    def __init__(self, scope, config: TransformerConfig, rope_dtype: mx.Dtype, prefix: str = "layers"):
        self.rope = Rope(config.head_dim, config.rope_base, rope_dtype)
        self.blocks = [Block(scope.within(f"{prefix}.{i}"), config) for i in range(config.layers)]

    def __call__(self, x: mx.array, cache) -> mx.array:
        """x [B, T, dim] at the cache's offset -> [B, T, dim]; the cache moves on by T."""
        length = x.shape[1]
        table = cache.rotation(self.rope, length)
        for layer, block in enumerate(self.blocks):
            x = block(x, layer, table, cache)
        cache.advance(length)
        return x


def _heads_first(x: mx.array) -> mx.array:
    """[B, T, heads, dim] -> [B, heads, T, dim]; for one position that is the same memory."""
    batch, length, heads, dim = x.shape
    return x.reshape(batch, heads, 1, dim) if length == 1 else x.transpose(0, 2, 1, 3)


def _heads_last(x: mx.array) -> mx.array:
    """[B, heads, T, dim] -> [B, T, heads * dim]."""
    batch, heads, length, dim = x.shape
    return (x if length == 1 else x.transpose(0, 2, 1, 3)).reshape(batch, length, heads * dim)
