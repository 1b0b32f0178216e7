"""Keys and values of the past, as explicit objects that the caller holds.

Where Metal kernels run, a step is one launch from qkv to the mixed values; elsewhere `heads.split` and MLX's attention.
On the CPU `layers.host` takes the steps of a `KVCache`, whose tail is then in NumPy's memory.

mlx-lm has caches of this kind, but importing them imports transformers: 0.7 s, and 100 MB to install.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import mlx.core as mx
import numpy as np

from .. import device
from ..kernels.attention import Past, step_attention
from .heads import Heads
from .rope import Rope

Pair = tuple[mx.array, mx.array]  # keys and values
HostPair = tuple[np.ndarray, np.ndarray]  # the same in NumPy's memory, [B, kv_heads, positions, head_dim]
_A = TypeVar("_A")
_B = TypeVar("_B")
_STEP = 256  # positions by which a cache grows
_TAIL = 64  # positions that are copied at every step; as often as this, everything is


class Cache(Protocol):
    """What a transformer asks of the past."""

    def rotation(self, rope: Rope, heads: Heads, batch: int, length: int) -> Any:
        """Once a pass: the rotations of the next positions, in the form that `attend` takes as its table."""

    def attend(self, layer: int, qkv: mx.array, batch: int, heads: Heads, table: Any) -> mx.array:
        """Remember k and v; the attention of q over what is visible: rows of qkv
        [B * T, (heads + 2 kv_heads) * head_dim] -> [B * T, heads * head_dim]."""
        ...

    def advance(self, length: int) -> None:
        """At the end of a pass."""


class KVCache:
    """One sequence, every position visible. Grows by 256 positions; never preallocated for the whole context.

    A cache may begin with a `prefix` that it shares with others and never writes to.

    On a GPU an array that a running kernel still reads is copied when it is written to (MLX donates a buffer only when
    nobody else holds it), and a step reads the whole past. So the steps of the kernels grow a short `tail`, which they
    themselves move into new arrays; it is merged into the body when it is full. On the CPU a tail has room for all of
    its positions, and is written to where it lies.
    """

    def __init__(self, layers: int, dtype: mx.Dtype = mx.float32, prefix: KVCache | None = None):
        self.dtype, self.prefix = dtype, prefix
        self.offset: int = 0 if prefix is None else prefix.offset
        self.body: list[Pair | None] = [None] * layers
        self.tail: list[Any] = [None] * layers  # each a Pair, a HostPair or None
        self.tail_length = 0  # the newest positions, which are not in the body

    def fork(self) -> KVCache:
        """A second sequence with the same past. Arrays are the same until one of the two writes, which copies them: the
        fastest to step from."""
        twin = KVCache(len(self.body), self.dtype, self.prefix)
        twin.offset, twin.body = self.offset, [pair and _handles(pair) for pair in self.body]
        # the kernels' are never written to: each step makes new ones
        twin.tail = [pair if pair is None or _in_mlx(pair) else each(np.copy, pair) for pair in self.tail]
        twin.tail_length = self.tail_length
        return twin

    def extend(self) -> KVCache:
        """A sequence that continues this one, which stays as it is and in memory once however many continue it."""
        self._merge_tail()
        return KVCache(len(self.body), self.dtype, prefix=self)

    def rewind(self, offset: int) -> None:
        """Forget all positions from `offset` on, which is not within the prefix."""
        self._merge_tail()
        self.offset = offset

    def pairs(self) -> list[Pair]:
        """Keys and values of every layer, [1, kv_heads, offset, head_dim], of a cache without a prefix: what `of_pairs`
        takes."""
        assert self.prefix is None
        self._merge_tail()
        return [each(lambda a: mx.contiguous(a[..., : self.offset, :]), self._past(i)) for i in range(len(self.body))]

    @classmethod
    def of_pairs(cls, pairs: list[Pair]) -> KVCache:
        """The cache that gave these."""
        cache = cls(len(pairs), pairs[0][0].dtype)
        cache.body, cache.offset = list(pairs), pairs[0][0].shape[2]
        return cache

    @property
    def arrays(self) -> list[mx.array]:
        """What MLX has to compute."""
        return [a for pair in (*self.body, *self.tail) if pair is not None and _in_mlx(pair) for a in pair]

    @property
    def nbytes(self) -> int:
        """Bytes of its own, the prefix not counted."""
        return sum(a.nbytes for pair in (*self.body, *self.tail) if pair is not None for a in pair)

    @property
    def on_host(self) -> bool:
        """Whether `layers.host` can take a step from here."""
        return self.offset > 0 and self.dtype == mx.float32

    def host_offsets(self) -> list[int]:
        self._make_room(np.ndarray)
        return [self.offset]

    def host_pasts(self, layer: int, k: np.ndarray, v: np.ndarray) -> list[list[HostPair]]:
        tail = self.tail[layer]
        if tail is None:
            tail = self.tail[layer] = each(lambda a: np.empty((*a.shape[:2], _TAIL, a.shape[3]), a.dtype), (k, v))
        end = self.tail_length + 1
        for room, new in zip(tail, (k, v)):
            room[:, :, end - 1 : end] = new
        return [[*self._host_past(layer), each(lambda a: a[:, :, :end], tail)]]

    def host_advance(self, length: int) -> None:
        self.tail_length += length
        self.offset += length

    def _host_past(self, layer: int) -> list[HostPair]:
        """Keys and values of prefix and body where they lie."""
        past = [] if self.prefix is None else self.prefix._host_past(layer)
        body, own = self.body[layer], self._own_length()
        if body is not None and own:
            past.append(each(lambda a: np.asarray(a)[:, :, :own], body))
        return past

    def rotation(self, rope: Rope, heads: Heads, batch: int, length: int) -> mx.array:
        if self._fused(length):
            self._make_room(mx.array)
            self._positions = mx.array([self.offset])
            return rope.upto(self.offset + 1).view(mx.float32)
        self._merge_tail()
        return heads.expand(rope.at(self.offset, length), batch)

    def attend(self, layer: int, qkv: mx.array, batch: int, heads: Heads, table: mx.array) -> mx.array:
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

    def _step(self, layer: int, qkv: mx.array, heads: Heads, table: mx.array) -> mx.array:
        """One position by the kernel, which reads prefix, body and tail where they lie."""
        tail, own, body = self.tail[layer], self._own_length(), self.body[layer]
        keys, values = tail or (None, None)
        y, *grown = step_attention(
            qkv,
            keys,
            values,
            self._positions,
            table,
            heads.count,
            heads.kv_count,
            heads.q_gain,
            heads.k_gain,
            heads.eps,
            None if self.prefix is None else Past(*self.prefix._past(layer), self.prefix.offset),
            Past(*body, own) if body is not None and own else None,
            _TAIL,
        )
        self.tail[layer] = grown[0], grown[1]
        return y

    def _make_room(self, kind: type) -> None:
        """For one more position in the tail, which is, or will be, of arrays of that kind."""
        first = self.tail[0]
        if self.tail_length == _TAIL or (first is not None and not isinstance(first[0], kind)):
            self._merge_tail()

    def _own_length(self) -> int:
        """Positions in the body."""
        return self.offset - self.tail_length - (0 if self.prefix is None else self.prefix.offset)

    def _merge_tail(self) -> None:
        if not self.tail_length:
            return
        own = self._own_length()
        for layer, (tail, body) in enumerate(zip(self.tail, self.body)):
            assert tail is not None  # every layer takes every step
            tail = tail if _in_mlx(tail) else each(mx.array, tail)
            new = each(lambda a: mx.contiguous(a[..., : self.tail_length, :]), tail)
            if body is not None and own:
                new = after(each(lambda a: a[..., :own, :], body), new)
            self.body[layer] = new
        self.tail, self.tail_length = [None] * len(self.tail), 0

    def _past(self, layer: int) -> Pair:
        """Keys and values from position 0 on, [1, kv_heads, at least offset, head_dim], of a cache without a tail."""
        body = self.body[layer]
        if self.prefix is None:
            assert body is not None  # whoever asks has a past
            return body
        begin = self.prefix.offset
        past = each(lambda a: a[..., :begin, :], self.prefix._past(layer))
        return past if body is None else after(past, body)

    def _append(self, layer: int, k: mx.array, v: mx.array) -> None:
        """Write k and v [1, kv_heads, T, head_dim] at `offset`."""
        own, (keys, values) = self._own_length(), self.body[layer] or (None, None)
        self.body[layer] = _write(keys, k.astype(self.dtype), own), _write(values, v.astype(self.dtype), own)


class BatchCache:
    """Several sequences of different lengths, one new position each: the weights are shared, the pasts are not."""

    def __init__(self, rows: list[KVCache]):
        self.rows = rows

    def rotation(self, rope: Rope, heads: Heads, batch: int, length: int) -> list[mx.array]:
        return [row.rotation(rope, heads, 1, length) for row in self.rows]

    def attend(self, layer: int, qkv: mx.array, batch: int, heads: Heads, table: list[mx.array]) -> mx.array:
        return mx.concatenate(
            [row.attend(layer, qkv[i : i + 1], 1, heads, table[i]) for i, row in enumerate(self.rows)]
        )

    def advance(self, length: int) -> None:
        for row in self.rows:
            row.advance(length)

    @property
    def on_host(self) -> bool:
        return all(row.on_host for row in self.rows)

    def host_offsets(self) -> list[int]:
        return [offset for row in self.rows for offset in row.host_offsets()]

    def host_pasts(self, layer: int, k: np.ndarray, v: np.ndarray) -> list[list[HostPair]]:
        return [past for i, row in enumerate(self.rows) for past in row.host_pasts(layer, k[i : i + 1], v[i : i + 1])]

    def host_advance(self, length: int) -> None:
        for row in self.rows:
            row.host_advance(length)


SequenceCache = KVCache | BatchCache


def each(change: Callable[[_A], _B], pair: tuple[_A, _A]) -> tuple[_B, _B]:
    """The same of keys and of values."""
    keys, values = pair
    return change(keys), change(values)


def _in_mlx(pair) -> bool:
    return isinstance(pair[0], mx.array)


def after(old: Pair, new: Pair) -> Pair:
    """Both, the new positions behind the old ones."""
    return mx.concatenate([old[0], new[0]], axis=2), mx.concatenate([old[1], new[1]], axis=2)


def _handles(pair: Pair) -> Pair:
    """Objects of one's own for the same arrays: writing to one does not show in the other."""
    return each(lambda a: a.reshape(a.shape), pair)


def _write(store: mx.array | None, new: mx.array, begin: int) -> mx.array:
    end, capacity = begin + new.shape[2], 0 if store is None else store.shape[2]
    if store is None or end > capacity:
        room = mx.zeros((*new.shape[:2], -(-end // _STEP) * _STEP - capacity, new.shape[3]), new.dtype)
        store = room if store is None else mx.concatenate([store, room], axis=2)
    store[:, :, begin:end] = new
    return store
