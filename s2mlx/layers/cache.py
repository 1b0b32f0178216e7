"""Keys and values of the past, as explicit objects that the caller holds.

Each cache offers `attend(layer, q, k, v, scale)`: remember k and v, return the attention of q over what is visible.
q is [B, heads, T, head_dim], k and v [B, kv_heads, T, head_dim]; the result has q's shape. Heads of q share the
kv head `i // (heads / kv_heads)`. `offset` is the position of the next token; the stack calls `advance` once a pass.

mlx-lm has caches of this kind; importing them pulls in transformers (0.7 s), more than a whole cold start should cost.
"""

from __future__ import annotations

import mlx.core as mx

_STEP = 256  # positions by which a cache grows


class KVCache:
    """One sequence, every position visible. Grows by 256 positions; never preallocated for the whole context."""

    def __init__(self, layers: int, dtype: mx.Dtype = mx.float32):
        self.offset, self.dtype = 0, dtype
        self.keys: list[mx.array | None] = [None] * layers
        self.values: list[mx.array | None] = [None] * layers

    def fork(self) -> KVCache:
        """A second sequence with the same past. Arrays are shared until one of the two writes."""
        twin = KVCache(len(self.keys), self.dtype)
        twin.offset, twin.keys, twin.values = self.offset, list(self.keys), list(self.values)
        return twin

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (*self.keys, *self.values) if a is not None)

    @property
    def arrays(self) -> list[mx.array]:
        return [a for a in (*self.keys, *self.values) if a is not None]

    def append(self, layer: int, k: mx.array, v: mx.array) -> tuple[mx.array, mx.array]:
        """Write k and v at `offset`; return everything up to and including them."""
        end = self.offset + k.shape[2]
        self.keys[layer] = _write(self.keys[layer], k.astype(self.dtype), self.offset, end)
        self.values[layer] = _write(self.values[layer], v.astype(self.dtype), self.offset, end)
        return self.keys[layer][..., :end, :], self.values[layer][..., :end, :]

    def attend(self, layer: int, q: mx.array, k: mx.array, v: mx.array, scale: float) -> mx.array:
        k, v = self.append(layer, k, v)
        mask = "causal" if q.shape[2] > 1 else None
        return mx.fast.scaled_dot_product_attention(q, k.astype(q.dtype), v.astype(q.dtype), scale=scale, mask=mask)

    def rotation(self, rope, length: int) -> mx.array:
        return rope.at(self.offset, length)

    def advance(self, length: int) -> None:
        self.offset += length


class BatchCache:
    """Several sequences of different lengths, one new position each: the weights are shared, the pasts are not."""

    def __init__(self, rows: list[KVCache]):
        self.rows = rows

    def attend(self, layer: int, q: mx.array, k: mx.array, v: mx.array, scale: float) -> mx.array:
        one = lambda a, i: a[i : i + 1]
        return mx.concatenate([row.attend(layer, one(q, i), one(k, i), one(v, i), scale)
                               for i, row in enumerate(self.rows)])

    def rotation(self, rope, length: int) -> mx.array:
        return rope.at_each([row.offset for row in self.rows])

    def advance(self, length: int) -> None:
        for row in self.rows:
            row.advance(length)


class WindowCache:
    """One sequence seen through a window: position p attends to p - window + 1 .. p. Holds window - 1 positions."""

    def __init__(self, layers: int, window: int):
        self.offset, self.window = 0, window
        self.keys: list[mx.array | None] = [None] * layers
        self.values: list[mx.array | None] = [None] * layers

    @property
    def arrays(self) -> list[mx.array]:
        return [a for a in (*self.keys, *self.values) if a is not None]

    def attend(self, layer: int, q: mx.array, k: mx.array, v: mx.array, scale: float) -> mx.array:
        if self.keys[layer] is not None:
            k = mx.concatenate([self.keys[layer], k], axis=2)
            v = mx.concatenate([self.values[layer], v], axis=2)
        new, seen, keep = q.shape[2], k.shape[2], self.window - 1
        # contiguous, or the slice would keep the whole of k alive
        self.keys[layer] = mx.contiguous(k[:, :, max(0, seen - keep) :])
        self.values[layer] = mx.contiguous(v[:, :, max(0, seen - keep) :])
        mask = None
        if seen > 1:
            distance = mx.arange(seen - new, seen)[:, None] - mx.arange(seen)[None]
            mask = (distance >= 0) & (distance < self.window)
        return mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask=mask)

    def rotation(self, rope, length: int) -> mx.array:
        return rope.at(self.offset, length)

    def advance(self, length: int) -> None:
        self.offset += length


def _write(store: mx.array | None, new: mx.array, begin: int, end: int) -> mx.array:
    capacity = 0 if store is None else store.shape[2]
    if end > capacity:
        room = mx.zeros((*new.shape[:2], -(-end // _STEP) * _STEP - capacity, new.shape[3]), new.dtype)
        store = room if store is None else mx.concatenate([store, room], axis=2)
    return mx.slice_update(store, new, mx.array([begin]), axes=[2])
