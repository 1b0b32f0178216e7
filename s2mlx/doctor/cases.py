"""What the kernels are tried on: small samples of every kernel, for every format and row count. A table.

Each is a function without arguments that gives arrays: with kernels it launches them, without it is plain MLX. Sizes
are such that rows do not fill a tile, and a past spans prefix, body and tail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mlx.core as mx

from ..config import FAST_AR, SLOW_AR, TransformerConfig
from ..kernels import blocks, conv, convnext, dequantize, qmv, sampler
from ..layers.cache import BatchCache, Cache, KVCache
from ..layers.heads import Heads
from ..layers.rope import Rope
from ..layers.short_cache import FrameCache
from .side_by_side import Work

ROWS = tuple(range(1, 9)) + (12, 20)  # vectors of a step: one, a batch, and more than a launch takes
_WIDTH = 512


def normal(*shape: int, seed: int = 0, dtype: mx.Dtype = mx.float32) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(1000 * seed + len(shape))).astype(dtype)


def products(format: int, rows: int) -> Iterator[Work]:
    """All four products with `rows` vectors."""
    one, two = (blocks.sample_blocks(format, 11, _WIDTH, seed) for seed in (0, 1))
    x, gain, residual = normal(rows, _WIDTH), 1 + 0.2 * normal(_WIDTH, seed=1), normal(rows, 11, seed=2)
    yield lambda: [qmv.qmv(one, x, format)]
    yield lambda: [qmv.qmv_add(one, x, residual, format)]
    yield lambda: [qmv.qmv_norm(one, x, gain, 1e-6, format)]
    yield lambda: [qmv.qmv_norm_swiglu(one, two, x, gain, 1e-6, format)]


def opened(format: int) -> Iterator[Work]:
    """Blocks as matrices of every float type, and some rows of them."""
    w, ids = blocks.sample_blocks(format, 9, _WIDTH), mx.array([[8, 0, 3], [3, 3, 7]], mx.int32)
    for dtype in (mx.float32, mx.float16, mx.bfloat16):
        yield lambda dtype=dtype: [dequantize.dequantize(w, format, dtype)]  # type: ignore[misc]
    yield lambda: [dequantize.dequantize_rows(w, ids, format)]


def attention() -> Iterator[tuple[str, Work]]:
    """Steps of the Slow-AR after pasts of several kinds, alone and in a batch, and a frame of the Fast-AR."""
    for name, dtype in (("float16", mx.float16), ("float32", mx.float32)):
        yield f"a step, {name} past", lambda dtype=dtype: _steps(dtype, 1)  # type: ignore[misc]
        yield f"a step of several, {name} past", lambda dtype=dtype: _steps(dtype, 3)  # type: ignore[misc]
    for batch in (1, 3):
        yield f"a frame of {batch}", lambda batch=batch: _frame(batch)  # type: ignore[misc]


def draws() -> Iterator[tuple[str, Work]]:
    settings = sampler.SamplerSettings(0.8, 0.8, 30)
    for batch in (1, 4):
        logits, uniforms = 4 * normal(batch, 4097), mx.random.uniform(shape=(batch, 2), key=mx.random.key(3))
        window, may_end = mx.full((batch, 10), -1, mx.int32), mx.ones((batch,), mx.int32)
        yield (
            f"semantic, {batch}",
            lambda logits=logits, uniforms=uniforms, window=window, may_end=may_end: list(  # type: ignore[misc]
                sampler.draw_semantic(logits, uniforms, window, may_end, settings)
            ),
        )
        yield (
            f"residual, {batch}",
            lambda logits=logits, uniforms=uniforms: [sampler.draw(logits, uniforms[:, :1], settings)],  # type: ignore[misc]
        )


def convolutions() -> Iterator[tuple[str, Work]]:
    """Of pieces of several lengths, as the codec's decoder has them."""
    vector = lambda n, seed: normal(n, seed=seed)
    for length in (4, 24, 300):
        for channels, dilation in ((96, 1), (64, 9)):
            weight = 0.05 * normal(7, channels, channels, seed=1).astype(mx.float16)
            x, past = normal(length, channels), conv.start(weight, dilation)
            alpha, bias = 1 + 0.1 * vector(channels, 2), vector(channels, 3)
            yield (
                f"length {length}, dilation {dilation}",
                _convolution(x, past, weight, bias, dilation=dilation, alpha=alpha, residual=x),
            )
        up = 0.05 * normal(1, 64, 128, seed=4).astype(mx.float16)
        yield f"length {length}, GELU", _convolution(normal(length, 64), None, up, vector(128, 5), activation="gelu")


def _convolution(*arguments, **named) -> Work:
    return lambda: [a for a in conv.conv(*arguments, **named) if a is not None]


def blocks_of_convnext() -> Iterator[tuple[str, Work]]:
    c, half = 128, mx.float16
    weights = convnext.Weights(
        0.2 * normal(7, c), normal(c, seed=1), 1 + 0.1 * normal(c, seed=2), normal(c, seed=3),
        (0.1 * normal(c, 4 * c, seed=4)).astype(half), normal(4 * c, seed=5),
        (0.1 * normal(4 * c, c, seed=6)).astype(half), normal(c, seed=7), 0.1 * normal(c, seed=8),
    )  # fmt: skip
    for length in (1, 40):
        x, past = normal(length, c, seed=9), normal(6, c, seed=10)
        yield f"length {length}", lambda x=x, past=past: list(convnext.convnext(x, past, weights))  # type: ignore[misc]


def _heads(config: TransformerConfig) -> tuple[Heads, Rope, int]:
    gains = [1 + 0.1 * normal(config.head_dim, seed=seed) for seed in (1, 2)] if config.qk_norm else [None, None]
    width = (config.heads + 2 * config.kv_heads) * config.head_dim
    return Heads(config, gains[0], gains[1]), Rope(config.head_dim, config.rope_base), width


def _steps(dtype: mx.Dtype, batch: int, steps: int = 66) -> list[mx.array]:
    """Steps after a prefilled beginning that is shared: more than the tail of a cache holds."""
    heads, rope, width = _heads(SLOW_AR)
    shared = KVCache(1, dtype)
    outputs = [_pass(shared, heads, rope, normal(9, width, seed=20), 1)]
    rows = [shared.extend() if batch > 1 else shared.fork() for _ in range(batch)]
    for i, row in enumerate(rows[1:]):
        outputs.append(_pass(row, heads, rope, normal(3 + i, width, seed=21), 1))
    cache: Cache = BatchCache(rows) if batch > 1 else rows[0]
    for step in range(steps):
        outputs.append(_pass(cache, heads, rope, normal(batch, width, seed=30 + step), batch))
    return [mx.concatenate(outputs)]


def _frame(batch: int) -> list[mx.array]:
    heads, rope, width = _heads(FAST_AR)
    cache = FrameCache(1)
    outputs = [_pass(cache, heads, rope, normal(2 * batch, width, seed=40), batch)]
    outputs += [_pass(cache, heads, rope, normal(batch, width, seed=41 + i), batch) for i in range(8)]
    return [mx.concatenate(outputs)]


def _pass(cache: Cache, heads: Heads, rope: Rope, qkv: mx.array, batch: int) -> mx.array:
    length = qkv.shape[0] // batch
    y = cache.attend(0, qkv, batch, heads, cache.rotation(rope, heads, batch, length))
    cache.advance(length)
    return y


Named = Callable[[], Iterator[tuple[str, Work]]]
FAMILIES: tuple[tuple[str, Named], ...] = (
    ("attention", attention),
    ("sampler", draws),
    ("convolutions", convolutions),
    ("ConvNeXt", blocks_of_convnext),
)
