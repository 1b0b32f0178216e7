"""Keys and values of the past, as explicit objects that the caller holds.

What a transformer asks of one:
    rotation(rope, heads, batch, length)  once a pass: the rotations of the next positions, in the form `attend` takes
    attend(layer, qkv, batch, heads, table)   remember k and v; the attention of q over what is visible, rows of
                                          qkv [B * T, (heads + 2 kv_heads) * head_dim] -> [B * T, heads * head_dim]
    advance(length)                       at the end of a pass

Where Metal kernels run, a step is one launch from qkv to the mixed values; elsewhere `heads.split` and MLX's attention.

mlx-lm has caches of this kind, but importing them imports transformers: 0.7 s, and 100 MB to install.
"""

from __future__ import annotations

from functools import cache

import mlx.core as mx

from .. import device
from ..kernels.attention import Past, fast_attention, step_attention

_STEP = 256  # positions by which a cache grows
_TAIL = 64  # positions that are copied at every step; as often as this, everything is


class KVCache:
    """One sequence, every position visible. Grows by 256 positions; never preallocated for the whole context.

    A cache may begin with a `prefix` that it shares with others and never writes to.

    On a GPU an array that a running kernel still reads is copied when it is written to (MLX donates a buffer only when
    nobody else holds it), and a step reads the whole past. So the steps of the kernels write to a short `tail`, whose
    copy costs little; it is merged into keys and values when it is full.
    """

    def __init__(self, layers: int, dtype: mx.Dtype = mx.float32, prefix: KVCache | None = None):
        self.dtype, self.prefix = dtype, prefix
        self.offset = 0 if prefix is None else prefix.offset
        self.keys: list[mx.array | None] = [None] * layers
        self.values: list[mx.array | None] = [None] * layers
        self.tail: list[tuple[mx.array, mx.array] | None] = [None] * layers
        self.tail_length = 0  # the newest positions, which are not in keys and values

    def fork(self) -> KVCache:
        """A second sequence with the same past. Arrays are the same until one of the two writes, which copies them: the
        fastest to step from."""
        twin = KVCache(len(self.keys), self.dtype, self.prefix)
        twin.offset, twin.keys, twin.values = self.offset, _handles(self.keys), _handles(self.values)
        twin.tail, twin.tail_length = [pair and tuple(_handles(pair)) for pair in self.tail], self.tail_length
        return twin

    def extend(self) -> KVCache:
        """A sequence that continues this one, which stays as it is and in memory once however many continue it."""
        self._merge_tail()
        return KVCache(len(self.keys), self.dtype, prefix=self)

    def rewind(self, offset: int) -> None:
        """Forget all positions from `offset` on, which is not within the prefix."""
        self._merge_tail()
        self.offset = offset

    @property
    def arrays(self) -> list[mx.array]:
        tails = [a for pair in self.tail if pair is not None for a in pair]
        return [a for a in (*self.keys, *self.values, *tails) if a is not None]

    @property
    def nbytes(self) -> int:
        """Bytes of its own, the prefix not counted."""
        return sum(a.nbytes for a in self.arrays)

    def rotation(self, rope, heads, batch: int, length: int) -> mx.array:
        if self._fused(length):
            if self.tail_length == _TAIL:
                self._merge_tail()
            self._positions = mx.array([self.offset])
            return rope.upto(self.offset + 1).view(mx.float32)
        self._merge_tail()
        return heads.expand(rope.at(self.offset, length), batch)

    def attend(self, layer: int, qkv: mx.array, batch: int, heads, table: mx.array) -> mx.array:
        if self._fused(qkv.shape[0]):
            return self._step(layer, qkv, heads, table)
        q, k, v = heads.split(qkv, batch, table)
        length = k.shape[2]
        self._append(layer, k, v)
        k, v = (a[..., : self.offset + length, :].astype(q.dtype) for a in self._past(layer))
        mask = "causal" if length > 1 else None
        return heads.merge(mx.fast.scaled_dot_product_attention(q, k, v, scale=heads.scale, mask=mask))

    def advance(self, length: int) -> None:
        self.tail_length += self._fused(length)
        self.offset += length

    def _fused(self, length: int) -> bool:
        return length == 1 and self.offset > 0 and device.kernels_available()

    def _step(self, layer: int, qkv: mx.array, heads, table: mx.array) -> mx.array:
        """One position by the kernel, which reads prefix, body and tail where they lie."""
        pair = self.tail[layer]
        prefix = self.prefix and Past(*self.prefix._past(layer), self.prefix.offset)
        own = self._own_length()
        body = Past(self.keys[layer], self.values[layer], own) if own else None
        y, k, v = step_attention(
            qkv,
            *(pair or (None, None)),
            self._positions,
            table,
            heads.count,
            heads.kv_count,
            heads.q_gain,
            heads.k_gain,
            heads.eps,
            prefix,
            body,
        )
        new = k.astype(self.dtype), v.astype(self.dtype)
        pair = pair or _handles([_empty((*k.shape[:2], _TAIL, k.shape[3]), self.dtype)] * 2)
        for store, one in zip(pair, new):
            store[:, :, self.tail_length : self.tail_length + 1] = one
        self.tail[layer] = tuple(pair)
        return y

    def _own_length(self) -> int:
        """Positions in keys and values."""
        return self.offset - self.tail_length - (0 if self.prefix is None else self.prefix.offset)

    def _merge_tail(self) -> None:
        if not self.tail_length:
            return
        own = self._own_length()
        for layer, pair in enumerate(self.tail):
            new = [mx.contiguous(a[..., : self.tail_length, :]) for a in pair]
            if own:
                old = self.keys[layer], self.values[layer]
                new = [mx.concatenate([a[..., :own, :], b], axis=2) for a, b in zip(old, new)]
            self.keys[layer], self.values[layer] = new
        self.tail, self.tail_length = [None] * len(self.tail), 0

    def _past(self, layer: int) -> tuple[mx.array, mx.array]:
        """Keys and values from position 0 on, [1, kv_heads, at least offset, head_dim], of a cache without a tail."""
        own = self.keys[layer], self.values[layer]
        if self.prefix is None:
            return own
        begin = self.prefix.offset
        past = [a[..., :begin, :] for a in self.prefix._past(layer)]
        return tuple(p if a is None else mx.concatenate([p, a], axis=2) for p, a in zip(past, own))

    def _append(self, layer: int, k: mx.array, v: mx.array) -> None:
        """Write k and v [1, kv_heads, T, head_dim] at `offset`."""
        own = self._own_length()
        self.keys[layer] = _write(self.keys[layer], k.astype(self.dtype), own)
        self.values[layer] = _write(self.values[layer], v.astype(self.dtype), own)


class BatchCache:
    """Several sequences of different lengths, one new position each: the weights are shared, the pasts are not."""

    def __init__(self, rows: list[KVCache]):
        self.rows = rows

    def rotation(self, rope, heads, batch: int, length: int) -> list[mx.array]:
        return [row.rotation(rope, heads, 1, length) for row in self.rows]

    def attend(self, layer: int, qkv: mx.array, batch: int, heads, table: list[mx.array]) -> mx.array:
        return mx.concatenate(
            [row.attend(layer, qkv[i : i + 1], 1, heads, table[i]) for i, row in enumerate(self.rows)]
        )

    def advance(self, length: int) -> None:
        for row in self.rows:
            row.advance(length)


class FrameCache:
    """The few positions of one frame, for any number of sequences in step: the past is copied, which costs less than
    keeping room for it."""

    def __init__(self, layers: int):
        self.offset = 0
        self.past: list[tuple[mx.array, mx.array] | None] = [None] * layers

    def rotation(self, rope, heads, batch: int, length: int) -> mx.array:
        if device.kernels_available():
            return rope.upto(self.offset + length).view(mx.float32)
        return heads.expand(rope.at(self.offset, length), batch)

    def attend(self, layer: int, qkv: mx.array, batch: int, heads, table: mx.array) -> mx.array:
        past = self.past[layer]
        if device.kernels_available():
            rows = qkv if qkv.shape[0] == batch else qkv.reshape(batch, -1, qkv.shape[1])
            y, *self.past[layer] = fast_attention(
                rows, *(past or (None, None)), table, heads.count, heads.kv_count, heads.q_gain, heads.k_gain, heads.eps
            )
            return y if y.ndim == 2 else y.reshape(qkv.shape[0], -1)
        q, k, v = heads.split(qkv, batch, table)
        if past is not None:
            k, v = (mx.concatenate([old, new], axis=2) for old, new in zip(past, (k, v)))
        self.past[layer] = k, v
        mask = "causal" if q.shape[2] > 1 else None
        return heads.merge(mx.fast.scaled_dot_product_attention(q, k, v, scale=heads.scale, mask=mask))

    def advance(self, length: int) -> None:
        self.offset += length


class WindowCache:
    """One sequence seen through a window: position p attends to p - window + 1 .. p. Holds window - 1 positions."""

    def __init__(self, layers: int, window: int):
        self.offset, self.window = 0, window
        self.keys: list[mx.array | None] = [None] * layers
        self.values: list[mx.array | None] = [None] * layers

    @property
    def arrays(self) -> list[mx.array]:
        return [a for a in (*self.keys, *self.values) if a is not None]

    def rotation(self, rope, heads, batch: int, length: int) -> mx.array:
        return heads.expand(rope.at(self.offset, length), batch)

    def attend(self, layer: int, qkv: mx.array, batch: int, heads, table: mx.array) -> mx.array:
        q, k, v = heads.split(qkv, batch, table)
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
        return heads.merge(mx.fast.scaled_dot_product_attention(q, k, v, scale=heads.scale, mask=mask))

    def advance(self, length: int) -> None:
        self.offset += length


def _handles(arrays: list[mx.array | None]) -> list[mx.array | None]:
    """Objects of one's own for the same arrays: writing to one does not show in the other."""
    return [None if a is None else a.reshape(a.shape) for a in arrays]


@cache
def _empty(shape: tuple[int, ...], dtype: mx.Dtype) -> mx.array:
    """Where a tail begins: made once for all layers, since the first step copies it as every other does."""
    zeros = mx.zeros(shape, dtype)
    mx.eval(zeros)
    return zeros


def _write(store: mx.array | None, new: mx.array, begin: int) -> mx.array:
    end, capacity = begin + new.shape[2], 0 if store is None else store.shape[2]
    if end > capacity:
        room = mx.zeros((*new.shape[:2], -(-end // _STEP) * _STEP - capacity, new.shape[3]), new.dtype)
        store = room if store is None else mx.concatenate([store, room], axis=2)
    store[:, :, begin:end] = new
    return store
