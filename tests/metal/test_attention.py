"""Attention kernels: head sizes that fill a simdgroup or do not, shared kv heads, both norms, caches of another
type."""

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.kernels import attention

from .harness import Case, kernels, normal

F32, F16, BF16 = mx.float32, mx.float16, mx.bfloat16


def table(positions, head_dim):
    angle = np.arange(positions)[:, None] * np.exp(-np.arange(head_dim // 2) / 5)
    return mx.array(np.stack([np.cos(angle), np.sin(angle)], -1).astype(np.float32)).view(mx.complex64)[..., 0]


def gains(norm, head_dim):
    return [normal(head_dim, seed=s) for s in (5, 6)] if norm else [None, None]


def fast(head_dim, heads, kv_heads, new, past, norm, dtype=F32, cache=F32, batch=1, size=1.0):
    """With a small `size` the norms' eps counts. Each output is compared by the rounding of its own type."""

    def arguments():
        past_ = [normal(batch, kv_heads, past, head_dim, seed=s, dtype=cache) for s in (1, 2)] if past else [None, None]
        qkv = (normal(batch, new, (heads + 2 * kv_heads) * head_dim) * size).astype(dtype)
        return qkv, *past_, table(16, head_dim), heads, kv_heads, *gains(norm, head_dim), 1e-6

    id = f"fast-d{head_dim}-h{heads}/{kv_heads}-new{new}-past{past}-norm{norm}-b{batch}-{dtype}-{cache}-{size}"
    return Case(id, attention.fast_attention, arguments, tolerance=2e-6)


def step(head_dim, heads, kv_heads, positions, capacity, norm, dtype=F32, cache=F32, shared=0, body=0, size=1.0):
    """`shared` positions of a prefix come first, then `body` of the sequences' own; capacity 0: there are no more."""

    def arguments():
        batch = len(positions)
        past = [normal(batch, kv_heads, capacity, head_dim, seed=s, dtype=cache) for s in (1, 2)]
        for a in past:  # what lies beyond the filled part must not be read
            for b, p in enumerate(positions):
                a[b, :, p - shared - body :] = mx.nan
        qkv = (normal(batch, 1, (heads + 2 * kv_heads) * head_dim) * size).astype(dtype)

        def part(rows, length, seeds):
            arrays = [normal(rows, kv_heads, length + 3, head_dim, seed=s, dtype=cache) for s in seeds]
            return attention.Past(*arrays, length) if length else None

        return (
            qkv,
            *(past if capacity else [None, None]),
            mx.array(positions, mx.int32),
            table(capacity + shared + body + 1, head_dim),
            heads,
            kv_heads,
            *gains(norm, head_dim),
            1e-6,
            part(1, shared, (3, 4)),
            part(batch, body, (7, 8)),
            capacity + 3,
        )

    def filled(y, *grown):
        """What the new arrays hold, sequence by sequence."""
        ends = [p - shared - body + 1 for p in positions]
        return y, *(a[b, :, :end] for a in grown for b, end in enumerate(ends))

    id = f"step-d{head_dim}-h{heads}/{kv_heads}-at{positions}-after{shared}+{body}-norm{norm}-{dtype}-{cache}-{size}"
    return Case(
        id,
        lambda *a: filled(*attention.step_attention(*a)),
        arguments,
        tolerance=3e-6,
        reference=lambda *a: filled(*clean_reference(*a)),
    )


def clean_reference(qkv, keys, values, *rest):
    """NaN times a weight of zero is NaN in plain MLX: the reference gets zeros there."""
    keys, values = (a if a is None else mx.where(mx.isnan(a), 0, a) for a in (keys, values))
    return attention.step_attention_reference(qkv, keys, values, *rest)


CASES = [
    fast(128, 8, 2, 2, 0, False),
    fast(128, 8, 2, 1, 2, False),
    fast(128, 4, 1, 1, 10, False, F16, F16),
    fast(64, 4, 4, 1, 5, True),
    fast(80, 6, 2, 3, 2, True, BF16, F32),
    fast(16, 4, 2, 1, 3, False, F32, BF16, batch=2),
    fast(192, 2, 1, 2, 1, True),
    step(128, 4, 2, [0], 16, True),
    step(128, 4, 2, [33], 64, True, F32, F16),
    step(64, 3, 1, [70], 70, False, F16, F16),
    step(16, 4, 4, [3, 0, 7], 8, False),
    step(64, 4, 2, [40, 37], 16, True, shared=35),
    step(32, 2, 2, [9], 0, False, F32, F16, shared=9),
    step(64, 4, 2, [40, 37], 16, True, shared=20, body=15),
    step(128, 2, 1, [70], 8, False, F16, F16, body=66),
    step(64, 2, 2, [50], 0, True, F32, F16, shared=10, body=40),
    step(16, 2, 1, [5, 5], 0, False, body=5),
    step(192, 2, 1, [20], 32, True, BF16, BF16),
    step(80, 2, 2, [31], 32, True),
    # eps counts, and the own value is all there is: what the cache's type makes of it
    fast(64, 2, 1, 1, 2, True, size=1e-3),
    step(64, 2, 1, [3], 8, True, size=1e-3),
    step(64, 2, 1, [0], 8, True, F32, F16),
    step(64, 2, 1, [1], 8, False, F32, BF16),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_kernel_equals_reference(case, compiled):
    case.check()


def test_rows_are_sequences_of_one_position(compiled):
    qkv, *rest = CASES[-1].arguments()
    with kernels():
        y, *_ = attention.step_attention(qkv, *rest)
        rows, *_ = attention.step_attention(qkv[:, 0], *rest)
    assert mx.array_equal(rows, y[:, 0])


def test_steps_equal_one_pass(compiled):
    """The frame's positions one by one give what they give together: norm, rotation and order of the cache agree."""
    head_dim, heads, kv_heads = 128, 8, 2
    qkv, t = normal(1, 3, (heads + 2 * kv_heads) * head_dim), table(16, head_dim)
    whole, *_ = attention.fast_attention_reference(qkv, None, None, t, heads, kv_heads)
    with kernels():
        y, k, v = attention.fast_attention(qkv[:, :2], None, None, t, heads, kv_heads)
        last, k, v = attention.fast_attention(qkv[:, 2:], k, v, t, heads, kv_heads)
    assert mx.allclose(mx.concatenate([y, last], axis=1), whole, atol=1e-5)
    assert k.shape == (1, kv_heads, 3, head_dim)
