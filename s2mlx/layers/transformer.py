"""The pre-norm transformer block that all three networks share, and a stack of them.

h = x + scale_a * wo(attention(rms(x)));  y = h + scale_f * w2(silu(w1(rms(h))) * w3(rms(h)))
with the per-channel layer scales of the codec's blocks only. Fused wqkv rows are [q | k | v]; q and k are
RMS-normalised over head_dim when the model has q/k norm, then rotated.

Inside a stack a pass is rows: x [N, dim] with N = B * T, row b * T + t. Only attention sees sequences.

Weights come through a `scope` (see `layers.scope`).
"""

from __future__ import annotations

import mlx.core as mx

from ..config import TransformerConfig
from .elementwise import scaled_residual
from .products import SwiGLU, added, normed
from .rope import Rope, rotate


class Heads:
    """How a fused product becomes queries, keys and values."""

    def __init__(self, config: TransformerConfig, q_gain: mx.array | None, k_gain: mx.array | None):
        self.count, self.kv_count, self.dim = config.heads, config.kv_heads, config.head_dim
        self.scale, self.eps = config.head_dim**-0.5, config.norm_eps
        self.q_gain, self.k_gain = q_gain, k_gain
        self._gains = None
        if q_gain is not None:  # a row per head, so that q and k are normalised together
            self._gains = mx.stack([q_gain] * self.count + [k_gain] * self.kv_count)[None, :, None]
            mx.eval(self._gains)

    def split(self, qkv: mx.array, batch: int, table: mx.array) -> tuple[mx.array, mx.array, mx.array]:
        """Rows qkv [B * T, (heads + 2 kv_heads) * head_dim], table from `expand` -> q, k, v [B, heads, T, head_dim], q
        and k normalised and rotated."""
        length, rotated = qkv.shape[0] // batch, self.count + self.kv_count
        if length == 1:  # the same memory, so no transpose
            x = qkv.reshape(batch, rotated + self.kv_count, 1, self.dim)
        else:
            x = qkv.reshape(batch, length, rotated + self.kv_count, self.dim).transpose(0, 2, 1, 3)
        qk, v = mx.split(x, [rotated], axis=1)
        if self._gains is not None:
            qk = mx.fast.rms_norm(qk, None, self.eps) * self._gains
        q, k = mx.split(rotate(qk, table), [self.count], axis=1)
        return q, k, v

    def expand(self, table: mx.array, batch: int) -> mx.array:
        """Rotations [T, head_dim / 2] or [B, 1, head_dim / 2] -> per head, [B, heads + kv_heads, T, head_dim / 2]."""
        table = table[None, None] if table.ndim == 2 else table[:, None]
        return mx.broadcast_to(table, (batch, self.count + self.kv_count, *table.shape[2:]))

    def merge(self, y: mx.array) -> mx.array:
        """[B, heads, T, head_dim] -> rows [B * T, heads * head_dim]."""
        batch, _, length, _ = y.shape
        return (y if length == 1 else y.transpose(0, 2, 1, 3)).reshape(batch * length, self.count * self.dim)


class Block:
    def __init__(self, scope, config: TransformerConfig):
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

    def __call__(self, x: mx.array, batch: int, layer: int, table: mx.array, cache) -> mx.array:
        """x [B * T, dim] -> same."""
        qkv = normed(self.wqkv, x, self.attention_norm, self.eps)
        x = _residual(self.wo, cache.attend(layer, qkv, batch, self.heads, table), x, self.attention_scale)
        return _residual(self.w2, self.w13(x, self.ffn_norm, self.eps), x, self.ffn_scale)


def _residual(linear, x: mx.array, residual: mx.array, scale: mx.array | None) -> mx.array:
    return added(linear, x, residual) if scale is None else scaled_residual(residual, linear(x), scale)


class Transformer:
    """A stack of blocks without its final norm: `prefix`.i of the scope holds block i."""

    def __init__(self, scope, config: TransformerConfig, rope_dtype: mx.Dtype, prefix: str = "layers"):
        self.blocks = [Block(scope.within(f"{prefix}.{i}"), config) for i in range(config.layers)]
        self.rope = Rope(config.head_dim, config.rope_base, rope_dtype) if self.blocks else None

    def __call__(self, x: mx.array, batch: int, cache) -> mx.array:
        """x [B * T, dim] at the cache's offset -> same; the cache moves on by T."""
        if not self.blocks:
            return x
        length = x.shape[0] // batch
        table = cache.rotation(self.rope, self.blocks[0].heads, batch, length)
        for layer, block in enumerate(self.blocks):
            x = block(x, batch, layer, table, cache)
        cache.advance(length)
        return x
