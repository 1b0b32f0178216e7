"""A stack of transformer blocks in NumPy, for the few rows of a step on the CPU: `host_frame` takes frames with it.

An operation of MLX takes some 15 us there however small it is, one of NumPy 1, and a frame of a small model has a
thousand of them. The equations are those of `transformer`, the products those of `forms`; the past is the caches' own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from .. import device
from ..weights import compiled
from .cache import HostPair
from .forms import Compiled, Dense, Host
from .heads import Heads
from .linear import Linear
from .matmul import host_blas
from .transformer import Block, Transformer

Product = Callable[[np.ndarray], np.ndarray]


class HostCache(Protocol):
    """What a stack asks of the past: as `cache.Cache`, in NumPy's memory."""

    def host_pasts(self, layer: int, k: np.ndarray, v: np.ndarray) -> list[list[HostPair]]:
        """Remember k and v [B, kv_heads, T, head_dim]; keys and values of all positions, in parts that follow each
        other, for each of the sequences that are attended to apart."""
        ...

    def host_offsets(self) -> list[int]:
        """Where the next position of each of those is, once a pass."""
        ...

    def host_advance(self, length: int) -> None:
        """At the end of a pass."""


class HostFrameCache:
    """The few positions of one frame, as `short_cache.FrameCache`."""

    def __init__(self, layers: int):
        self.offset = 0
        self.past: list[HostPair | None] = [None] * layers

    def host_offsets(self) -> list[int]:
        return [self.offset]

    def host_pasts(self, layer: int, k: np.ndarray, v: np.ndarray) -> list[list[HostPair]]:
        if (past := self.past[layer]) is not None:
            k, v = np.concatenate([past[0], k], axis=2), np.concatenate([past[1], v], axis=2)
        self.past[layer] = k, v
        return [[(k, v)]]

    def host_advance(self, length: int) -> None:
        self.offset += length


def block_matrices(blocks: Sequence[Block]) -> list[Linear]:
    """Of every block wqkv, wo, w1 above w3, w2."""
    return [w for block in blocks for w in (block.wqkv, block.wo, *block.w13.matrices, block.w2)]


def on_host() -> bool:
    """Whether small steps are NumPy's: on the CPU, unless `S2MLX_HOST_BLAS` is `off`."""
    return host_blas() and not device.kernels_available()


def multiplied(forms: set[type]) -> bool:
    """Whether NumPy can multiply matrices of these forms. What is in blocks also needs their machine code."""
    return forms <= {Dense, Host, Compiled} and (Compiled not in forms or compiled.available())


class HostStack:
    """The blocks of a transformer whose weights are `multiplied`."""

    def __init__(self, transformer: Transformer):
        assert transformer.rope is not None  # it has blocks
        self.blocks, self.rope = [HostBlock(block) for block in transformer.blocks], transformer.rope

    def __call__(self, x: np.ndarray, batch: int, cache: HostCache) -> np.ndarray:
        """x [B * T, dim] at the cache's offset -> same; the cache moves on by T."""
        length = len(x) // batch
        tables = [self.rope.in_numpy(offset, length) for offset in cache.host_offsets()]
        table = np.stack(tables)[:, :, None]  # of each sequence, or of all
        for layer, block in enumerate(self.blocks):
            x = block(x, batch, layer, table, cache)
        cache.host_advance(length)
        return x


class HostBlock:
    def __init__(self, block: Block):
        assert block.attention_scale is None  # nor has it one of the other branch: only the codec's have
        self.wqkv, self.wo, self.w13, self.w2 = map(product, block_matrices([block]))
        self.attention_norm, self.ffn_norm = np.asarray(block.attention_norm), np.asarray(block.ffn_norm)
        self.heads, self.eps = block.heads, block.eps
        gains = block.heads.gains
        self.gains = None if gains is None else np.asarray(gains)[..., 0, :]

    def __call__(self, x: np.ndarray, batch: int, layer: int, table: np.ndarray, cache: HostCache) -> np.ndarray:
        q, k, v = self._split(self.wqkv(normed(x, self.eps) * self.attention_norm), batch, table)
        pasts = cache.host_pasts(layer, k, v)
        each = batch // len(pasts)
        mixed = [_attend(q[i * each : (i + 1) * each], past, self.heads) for i, past in enumerate(pasts)]
        x = x + self.wo(mixed[0] if len(mixed) == 1 else np.concatenate(mixed))
        gate, up = np.split(self.w13(normed(x, self.eps) * self.ffn_norm), 2, axis=-1)
        return x + self.w2(gate / (1 + np.exp(-gate)) * up)

    def _split(self, qkv: np.ndarray, batch: int, table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `Heads.split`, but q [B, T, heads, head_dim]."""
        heads = self.heads
        rotated = heads.count + heads.kv_count
        x = qkv.reshape(batch, -1, rotated + heads.kv_count, heads.dim)
        qk, v = x[:, :, :rotated], x[:, :, rotated:]
        if self.gains is not None:
            qk = normed(qk, self.eps) * self.gains
        qk = (np.ascontiguousarray(qk).view(np.complex64) * table).view(np.float32)
        return qk[:, :, : heads.count], qk[:, :, heads.count :].transpose(0, 2, 1, 3), v.transpose(0, 2, 1, 3)


def product(linear: Linear) -> Product:
    """x [N, in] -> [N, out] by a matrix that is `multiplied`."""
    form, bias = linear.form, linear.bias
    if bias is None:
        return form.product
    added = np.asarray(bias)
    return lambda x: form.product(x) + added


def normed(x: np.ndarray, eps: float) -> np.ndarray:
    """RMSNorm without its gain."""
    return x / np.sqrt(np.add.reduce(x * x, axis=-1, keepdims=True) * np.float32(1 / x.shape[-1]) + np.float32(eps))


def _attend(q: np.ndarray, past: list[HostPair], heads: Heads) -> np.ndarray:
    """q [B, T, heads, head_dim], its own keys the last of the past's -> rows [B * T, heads * head_dim]."""
    batch, length = q.shape[:2]
    shared = heads.count // heads.kv_count  # queries of one key
    q = q.reshape(batch, length, heads.kv_count, shared, heads.dim).transpose(0, 2, 3, 1, 4)
    q = q.reshape(batch, heads.kv_count, shared * length, heads.dim) * np.float32(heads.scale)
    scores = [q @ keys.swapaxes(-1, -2) for keys, _ in past]
    score = scores[0] if len(scores) == 1 else np.concatenate(scores, axis=-1)
    if length > 1:
        seen = score.shape[-1] - length + 1 + np.arange(length)
        hidden = np.arange(score.shape[-1]) >= np.tile(seen, shared)[:, None]
        score = np.where(hidden, -np.inf, score)
    weight = np.exp(score - score.max(axis=-1, keepdims=True))
    weight /= np.add.reduce(weight, axis=-1, keepdims=True)
    ends = np.cumsum([keys.shape[-2] for keys, _ in past])[:-1]
    first, *others = (part @ values for part, (_, values) in zip(np.split(weight, ends, axis=-1), past))
    mixed = sum(others, first)
    mixed = mixed.reshape(batch, heads.kv_count, shared, length, heads.dim).transpose(0, 3, 1, 2, 4)
    return mixed.reshape(batch * length, heads.count * heads.dim)
