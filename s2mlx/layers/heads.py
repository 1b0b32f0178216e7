"""How one fused product becomes queries, keys and values of many heads, and how their results become rows again."""

from __future__ import annotations

import mlx.core as mx

from ..config import TransformerConfig
from .rope import rotate


class Heads:
    """The heads of one block: their numbers, and the gains of q and k where the model normalises them."""

    def __init__(self, config: TransformerConfig, q_gain: mx.array | None, k_gain: mx.array | None):
        self.count, self.kv_count, self.dim = config.heads, config.kv_heads, config.head_dim
        self.scale, self.eps = config.head_dim**-0.5, config.norm_eps
        self.q_gain, self.k_gain = q_gain, k_gain
        self.gains = None
        if q_gain is not None and k_gain is not None:  # a row per head, so that q and k are normalised together
            self.gains = mx.stack([q_gain] * self.count + [k_gain] * self.kv_count)[None, :, None]
            mx.eval(self.gains)

    def split(self, qkv: mx.array, batch: int, table: mx.array) -> tuple[mx.array, mx.array, mx.array]:
        """Rows qkv [B * T, (heads + 2 kv_heads) * head_dim], table from `expand` -> q, k, v [B, heads, T, head_dim], q
        and k normalised and rotated."""
        length, rotated = qkv.shape[0] // batch, self.count + self.kv_count
        if length == 1:  # the same memory, so no transpose
            x = qkv.reshape(batch, rotated + self.kv_count, 1, self.dim)
        else:
            x = qkv.reshape(batch, length, rotated + self.kv_count, self.dim).transpose(0, 2, 1, 3)
        qk, v = mx.split(x, [rotated], axis=1)
        if self.gains is not None:
            qk = mx.fast.rms_norm(qk, None, self.eps) * self.gains
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
