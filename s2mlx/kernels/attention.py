"""Attention of a few new positions, from the fused qkv product to the mixed values, with RoPE and q/k norm inside.

Shapes: qkv [B, n, (heads + 2 kv_heads) * head_dim] laid out [q | k | v], or rows [B, ...] for one position each, and
then y is rows too; keys and values [B, kv_heads, positions, head_dim]; `table` of `layers.rope.Rope`, complex64
[positions, head_dim / 2] or its float32 view [positions, head_dim], row p for position p. Query head i reads kv head
i // (heads / kv_heads). q_gain and k_gain [head_dim]: RMSNorm of q and k, or None.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import mlx.core as mx

from . import metal

MAX_POSITIONS = 64  # beyond, copying the past costs more than it saves
_SIMDGROUPS = (32, 16, 8)  # of a step's threadgroup, the first that a chip allows
_MOST_MERGED = 4096  # numbers that they merge, in threadgroup memory


def fast_attention(
    qkv: mx.array,
    keys: mx.array | None,
    values: mx.array | None,
    table: mx.array,
    heads: int,
    kv_heads: int,
    q_gain: mx.array | None = None,
    k_gain: mx.array | None = None,
    eps: float = 1e-6,
) -> tuple[mx.array, mx.array, mx.array]:
    """n new positions after those in keys and values (None: there are none).

    -> (y [B, n, heads * head_dim], keys and values with the new positions [B, kv_heads, P + n, head_dim])."""
    arguments = qkv, keys, values, _real(table), heads, kv_heads, q_gain, k_gain, eps
    head_dim, length = arguments[3].shape[1], _positions(qkv) + (0 if keys is None else keys.shape[2])
    key = (
        "fast_attention",
        qkv.dtype,
        None if keys is None else keys.dtype,
        head_dim,
        heads,
        kv_heads,
        qkv.shape[1:],
        q_gain is None,
    )
    if length <= MAX_POSITIONS and metal.trusted(
        key, _launch_fast, fast_attention_reference, lambda: _sample(arguments, past=keys is not None and 3)
    ):
        return _launch_fast(*arguments)
    return fast_attention_reference(*arguments)


class Past(NamedTuple):
    """A part of the past: the first `length` positions of keys and values [1 or B, kv_heads, any, head_dim]."""

    keys: mx.array
    values: mx.array
    length: int


def step_attention(
    qkv: mx.array,
    keys: mx.array | None,
    values: mx.array | None,
    positions: mx.array,
    table: mx.array,
    heads: int,
    kv_heads: int,
    q_gain: mx.array | None = None,
    k_gain: mx.array | None = None,
    eps: float = 1e-6,
    prefix: Past | None = None,
    body: Past | None = None,
    capacity: int = 1,
) -> tuple[mx.array, mx.array, mx.array]:
    """One new position a sequence, qkv [B, 1, ...], at positions[b] (int32 [B]).

    Its past is `prefix`, which all share, then its own `body`, where there are such, then as many positions of keys and
    values [B, kv_heads, any, head_dim] as are missing to positions[b], n (None: n is 0).
    -> (y [B, 1, heads * head_dim], these n and the new one as keys and values [B, kv_heads, capacity > n, head_dim];
    what is behind them means nothing)."""
    arguments = qkv, keys, values, positions, _real(table), heads, kv_heads, q_gain, k_gain, eps, prefix, body, capacity
    key = (
        "step_attention",
        qkv.dtype,
        _any(keys, body, prefix).dtype,
        arguments[4].shape[1],
        heads,
        kv_heads,
        q_gain is None,
        prefix is None,
        body is None,
        capacity,
    )
    # Threads that need many registers cannot be as many on every chip.
    sizes = [n for n in _SIMDGROUPS if n * arguments[4].shape[1] <= _MOST_MERGED]
    for n in sizes:
        launch = partial(_launch_step, n)
        sample = partial(_step_sample, arguments)
        if metal.trusted((*key, n), launch, step_attention_reference, sample, last=n == sizes[-1]):
            return launch(*arguments)
    return step_attention_reference(*arguments)


def fast_attention_reference(qkv, keys, values, table, heads, kv_heads, q_gain=None, k_gain=None, eps=1e-6):
    """`fast_attention` in plain MLX."""
    n, past = _positions(qkv), 0 if keys is None else keys.shape[2]
    q, k, v = _split(qkv, _real(table)[past : past + n], heads, kv_heads, q_gain, k_gain, eps)
    dtype = qkv.dtype if keys is None else keys.dtype
    k, v = k.astype(dtype), v.astype(dtype)
    if keys is not None:
        k, v = mx.concatenate([keys, k], axis=2), mx.concatenate([values, v], axis=2)
    visible = mx.arange(past + n) <= mx.arange(past, past + n)[:, None]
    return _attend(q, k, v, visible).astype(qkv.dtype).reshape(*qkv.shape[:-1], -1), k, v


def step_attention_reference(
    qkv,
    keys,
    values,
    positions,
    table,
    heads,
    kv_heads,
    q_gain=None,
    k_gain=None,
    eps=1e-6,
    prefix=None,
    body=None,
    capacity=1,
):
    """`step_attention` in plain MLX; zeros behind the new position."""
    tail = keys, values
    parts = [] if keys is None else [tail]
    for part in (body, prefix):
        if part is not None:
            repeats = qkv.shape[0] // part.keys.shape[0]
            parts.insert(0, [mx.repeat(a[:, :, : part.length], repeats, axis=0) for a in part[:2]])
    keys, values = (mx.concatenate(part, axis=2) for part in zip(*parts))
    q, k, v = _split(qkv, _real(table)[positions][:, None], heads, kv_heads, q_gain, k_gain, eps)
    k, v = k.astype(keys.dtype), v.astype(keys.dtype)
    visible = (mx.arange(keys.shape[2] + 1) < positions[:, None]) | (mx.arange(keys.shape[2] + 1) == keys.shape[2])
    y = _attend(q, mx.concatenate([keys, k], axis=2), mx.concatenate([values, v], axis=2), visible[:, None, None])
    newest = positions - sum(part.length for part in (prefix, body) if part is not None)
    grown = (_with_new(old, new, newest, capacity) for old, new in zip(tail, (k, v)))
    return y.astype(qkv.dtype).reshape(*qkv.shape[:-1], -1), *grown


def _with_new(old, new, at, capacity):
    """The first at[b] positions of `old`, then `new` [B, kv_heads, 1, head_dim], then zeros."""
    places, at = mx.arange(capacity), at[:, None]
    if old is None:
        old = mx.zeros_like(new)
    elif old.shape[2] < capacity:
        old = mx.pad(old, [(0, 0), (0, 0), (0, capacity - old.shape[2]), (0, 0)])
    old = mx.where((places < at)[:, None, :, None], old[:, :, :capacity], mx.zeros((), old.dtype))
    return mx.where((places == at)[:, None, :, None], new, old)


def _split(qkv, table, heads, kv_heads, q_gain, k_gain, eps):
    """q, k, v float32 [B, heads, n, head_dim], normalised and rotated; `table` [n or B and n, head_dim]."""
    batch, n = qkv.shape[0], _positions(qkv)
    x = qkv.astype(mx.float32).reshape(batch, n, heads + 2 * kv_heads, -1)
    q, k, v = x[:, :, :heads], x[:, :, heads : heads + kv_heads], x[:, :, heads + kv_heads :]
    if q_gain is not None:
        q = mx.fast.rms_norm(q, q_gain.astype(mx.float32), eps)
        k = mx.fast.rms_norm(k, k_gain.astype(mx.float32), eps)
    cos, sin = table[..., None, 0::2], table[..., None, 1::2]

    def rotate(x):
        a, b = x[..., 0::2], x[..., 1::2]
        return mx.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)

    return [mx.transpose(a, (0, 2, 1, 3)) for a in (rotate(q), rotate(k), v)]


def _attend(q, k, v, visible):
    """-> float32 [B, n, heads * head_dim]."""
    batch, heads, n, head_dim = q.shape
    y = mx.fast.scaled_dot_product_attention(
        q,
        k.astype(mx.float32),
        v.astype(mx.float32),
        scale=head_dim**-0.5,
        mask=mx.broadcast_to(visible, (batch, heads, n, k.shape[2])),
    )
    return y.transpose(0, 2, 1, 3).reshape(batch, n, -1)


def _positions(qkv: mx.array) -> int:
    """New positions of each sequence."""
    return 1 if qkv.ndim == 2 else qkv.shape[1]


def _any(keys: mx.array | None, *parts: Past | None) -> mx.array:
    """Some of the keys there are."""
    return keys if keys is not None else next(part.keys for part in parts if part is not None)


@lru_cache(1024)
def _lengths(prefix: int, body: int) -> mx.array:
    return mx.array([prefix, body], mx.int32)


def _real(table: mx.array) -> mx.array:
    return table.view(mx.float32) if table.dtype == mx.complex64 else table


def _launch_fast(qkv, keys, values, table, heads, kv_heads, q_gain, k_gain, eps):
    batch, n = qkv.shape[0], _positions(qkv)
    past, dtype = (0, qkv.dtype) if keys is None else (keys.shape[2], keys.dtype)
    head_dim = table.shape[1]
    norm, unused = q_gain is not None, table  # an input that the kernel does not read still needs an array
    simdgroups = min(heads // kv_heads * n, 32)
    whole = (batch, kv_heads, past + n, head_dim), dtype
    return metal.load("fast_attention.metal")["fast_attention"](
        [
            qkv,
            keys if past else qkv,
            values if past else qkv,
            table,
            q_gain if norm else unused,
            k_gain if norm else unused,
            metal.scalar(eps),
        ],
        grid=(32 * simdgroups, kv_heads, batch),
        threadgroup=(32 * simdgroups, 1, 1),
        outputs=[((*qkv.shape[:-1], heads * head_dim), qkv.dtype), whole, whole],
        T=qkv.dtype,
        C=dtype,
        D=head_dim,
        HEADS=heads,
        KV_HEADS=kv_heads,
        N=n,
        PAST=bool(past),
        NORM=norm,
    )


def _launch_step(
    simdgroups, qkv, keys, values, positions, table, heads, kv_heads, q_gain, k_gain, eps, prefix, body, capacity
):
    batch, head_dim = qkv.shape[0], table.shape[1]
    norm, unused = q_gain is not None, table
    nothing = Past(*[_any(keys, body, prefix)] * 2, 0)
    first, middle, last = prefix or nothing, body or nothing, nothing if keys is None else Past(keys, values, 0)
    grown = (batch, kv_heads, capacity, head_dim), last.keys.dtype
    return metal.load("step_attention.metal")["step_attention"](
        [
            qkv,
            last.keys,
            last.values,
            first.keys,
            first.values,
            middle.keys,
            middle.values,
            _lengths(first.length, middle.length),
            positions.astype(mx.int32),
            table,
            q_gain if norm else unused,
            k_gain if norm else unused,
            metal.scalar(eps),
        ],
        grid=(32 * simdgroups, heads, batch),
        threadgroup=(32 * simdgroups, 1, 1),
        outputs=[((*qkv.shape[:-1], heads * head_dim), qkv.dtype), grown, grown],
        T=qkv.dtype,
        C=last.keys.dtype,
        D=head_dim,
        HEADS=heads,
        KV_HEADS=kv_heads,
        NORM=norm,
        PREFIX=prefix is not None,
        BODY=body is not None,
        SIMDGROUPS=simdgroups,
        CAPACITY=capacity,
    )


def _sample(arguments, past):
    """Small arguments of the kind of `arguments` for a self-check, with `past` cached positions (0: none)."""
    qkv, keys, _, table, heads, kv_heads, q_gain, k_gain, eps = arguments
    keys_of = mx.random.split(mx.random.key(0), 3)
    sample = mx.random.normal((1, *qkv.shape[1:]), key=keys_of[0]).astype(qkv.dtype)
    old = [None, None]
    if past:
        shape = 1, kv_heads, past, table.shape[1]
        old = [mx.random.normal(shape, key=k).astype(keys.dtype) for k in keys_of[1:]]
    return sample, *old, table, heads, kv_heads, q_gain, k_gain, eps


def _step_sample(arguments):
    qkv, keys, values, positions, table, *rest, prefix, body, capacity = arguments
    like = _any(keys, body, prefix)
    sample, k, v, table, *rest = _sample((qkv, like, like, table, *rest), past=7)
    prefix, body = prefix and Past(v, k, 4), body and Past(k + 1, v, 6)
    newest = min(5, capacity - 1)
    position = newest + sum(part.length for part in (prefix, body) if part)
    return sample, k, v, mx.array([position], mx.int32), table, *rest, prefix, body, capacity
