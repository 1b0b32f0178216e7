"""The past of a sequence as the kernels use it - prefix, body and tail - is that of the plain way. The kernel is stood
in for by its reference here; tests/metal proves it."""

import mlx.core as mx
import numpy as np
import pytest

from s2mlx import device
from s2mlx.config import TransformerConfig
from s2mlx.layers import cache as module
from s2mlx.layers.cache import KVCache
from s2mlx.layers.heads import Heads
from s2mlx.layers.rope import Rope

LAYERS, HEADS, KV_HEADS, DIM = 2, 4, 2, 16


@pytest.fixture(scope="module")
def parts():
    config = TransformerConfig(
        dim=64,
        ffn_dim=64,
        layers=LAYERS,
        heads=HEADS,
        kv_heads=KV_HEADS,
        head_dim=DIM,
        rope_base=1e4,
        norm_eps=1e-6,
        qk_norm=True,
    )
    return Heads(config, mx.ones(DIM), mx.ones(DIM) * 1.5), Rope(DIM, 1e4)


def qkv(position, layer, length=1):
    rng = np.random.default_rng([position, layer])
    return mx.array(rng.standard_normal((length, (HEADS + 2 * KV_HEADS) * DIM)).astype(np.float32))


def run(parts, cache, begin, lengths):
    """Passes of so many positions, from `begin` on; what each gave."""
    heads, rope = parts
    made = []
    for length in lengths:
        table = cache.rotation(rope, heads, 1, length)
        made.append(mx.stack([cache.attend(i, qkv(begin, i, length), 1, heads, table) for i in range(LAYERS)]))
        cache.advance(length)
        mx.eval(made[-1], cache.arrays)
        begin += length
    return [np.array(m) for m in made]


def history(parts):
    """A prompt, steps, a fork and an extension of it that go on, a second prompt and steps after it."""
    cache = KVCache(LAYERS)
    made = run(parts, cache, 0, [5] + [1] * 8)
    twin, more = cache.fork(), cache.extend()
    made += run(parts, twin, 100, [1] * 5) + run(parts, more, 200, [3] + [1] * 7)
    more.rewind(17)
    made += run(parts, more, 300, [1, 1, 3, 1])
    made += run(parts, cache, 13, [1, 1, 4, 1, 1])  # what continued it is over by now
    cache.rewind(17)
    made += run(parts, cache, 400, [1, 1, 3, 1])
    assert (cache.offset, twin.offset, more.offset) == (23, 18, 23)
    return made


@pytest.mark.parametrize("tail", [1, 3, 64])
def test_steps_of_the_kernels_see_the_same_past(parts, monkeypatch, tail):
    want = history(parts)
    monkeypatch.setattr(module, "_TAIL", tail)
    monkeypatch.setattr(device, "kernels_available", lambda: True)
    for got, wanted in zip(history(parts), want, strict=True):
        assert np.abs(got - wanted).max() < 1e-5


def test_a_step_writes_to_a_short_array_only(parts, monkeypatch):
    """The arrays that hold most of the past stay as they are until the tail is full."""
    monkeypatch.setattr(module, "_TAIL", 4)
    monkeypatch.setattr(device, "kernels_available", lambda: True)
    cache = KVCache(LAYERS)
    run(parts, cache, 0, [300])
    for _ in range(3):
        before = [id(a) for pair in cache.body for a in pair]
        run(parts, cache, cache.offset, [1] * 4)
        assert [id(a) for pair in cache.body for a in pair] == before
        assert all(a.shape[2] == 4 for pair in cache.tail for a in pair)
        run(parts, cache, cache.offset, [1])
        assert [id(a) for pair in cache.body for a in pair] != before and cache.tail_length == 1
        run(parts, cache, cache.offset, [1, 2])  # a pass of several positions writes to the whole


def test_a_merged_past_has_no_gaps(parts, monkeypatch):
    monkeypatch.setattr(device, "kernels_available", lambda: True)
    cache = KVCache(LAYERS)
    run(parts, cache, 0, [3] + [1] * (module._TAIL + 1))
    assert cache.body[0][0].shape[2] == 3 + module._TAIL and cache.tail_length == 1
