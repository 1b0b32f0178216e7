"""Pasts that stay short: the positions of a frame, and those that a window shows."""

from __future__ import annotations

import mlx.core as mx

from .. import device
from ..kernels.attention import fast_attention
from .cache import Pair, after, each
from .heads import Heads
from .rope import Rope


class FrameCache:
    """The few positions of one frame, for any number of sequences in step: the past is copied, which costs less than
    keeping room for it."""

    def __init__(self, layers: int):
        self.offset = 0
        self.past: list[Pair | None] = [None] * layers

    def rotation(self, rope: Rope, heads: Heads, batch: int, length: int) -> mx.array:
        if device.kernels_available():
            return rope.upto(self.offset + length).view(mx.float32)
        return heads.expand(rope.at(self.offset, length), batch)

    def attend(self, layer: int, qkv: mx.array, batch: int, heads: Heads, table: mx.array) -> mx.array:
        past = self.past[layer]
        if device.kernels_available():
            rows = qkv if qkv.shape[0] == batch else qkv.reshape(batch, -1, qkv.shape[1])
            keys, values = past or (None, None)
            y, *new = fast_attention(
                rows, keys, values, table, heads.count, heads.kv_count, heads.q_gain, heads.k_gain, heads.eps
            )
            self.past[layer] = new[0], new[1]
            return y if y.ndim == 2 else y.reshape(qkv.shape[0], -1)
        q, k, v = heads.split(qkv, batch, table)
        if past is not None:
            k, v = after(past, (k, v))
        self.past[layer] = k, v
        mask = "causal" if q.shape[2] > 1 else None
        return heads.merge(mx.fast.scaled_dot_product_attention(q, k, v, scale=heads.scale, mask=mask))

    def advance(self, length: int) -> None:
        self.offset += length


class WindowCache:
    """One sequence seen through a window: position p attends to p - window + 1 .. p. Holds window - 1 positions."""

    def __init__(self, layers: int, window: int):
        self.offset, self.window = 0, window
        self.past: list[Pair | None] = [None] * layers

    @property
    def arrays(self) -> list[mx.array]:
        return [a for pair in self.past if pair is not None for a in pair]

    def rotation(self, rope: Rope, heads: Heads, batch: int, length: int) -> mx.array:
        return heads.expand(rope.at(self.offset, length), batch)

    def attend(self, layer: int, qkv: mx.array, batch: int, heads: Heads, table: mx.array) -> mx.array:
        q, k, v = heads.split(qkv, batch, table)
        past = self.past[layer]
        if past is not None:
            k, v = after(past, (k, v))
        new, seen, keep = q.shape[2], k.shape[2], self.window - 1
        # contiguous, or the slice would keep the whole of k alive
        self.past[layer] = each(lambda a: mx.contiguous(a[:, :, max(0, seen - keep) :]), (k, v))
        mask = None
        if seen > 1:
            distance = mx.arange(seen - new, seen)[:, None] - mx.arange(seen)[None]
            mask = (distance >= 0) & (distance < self.window)
        return heads.merge(mx.fast.scaled_dot_product_attention(q, k, v, scale=heads.scale, mask=mask))

    def advance(self, length: int) -> None:
        self.offset += length
