"""A frame in NumPy: what `slow_ar`, `fast_ar` and `dual_ar` say, for the CPU.

It is taken so where all matrices of a step are kept as NumPy multiplies them (`layers.host`). Prompts are MLX's: they
are few and large.
"""

from __future__ import annotations

from functools import cached_property

import mlx.core as mx
import numpy as np

from ..kernels.sampler import SamplerSettings
from ..layers.forms import Compiled, Table
from ..layers.host import HostCache, HostFrameCache, HostStack, block_matrices, multiplied, normed, on_host, product
from . import host_sampler
from .fast_ar import FastAR
from .slow_ar import SlowAR, embedding_scale


class HostFrame:
    def __init__(self, slow: SlowAR, fast: FastAR):
        self.slow, self.fast, self.config = slow, fast, slow.config
        self.wanted = True  # not by who watches the networks at work

    def runs(self) -> bool:
        """Whether NumPy takes the steps: asked each time, since the switches may change."""
        return self.wanted and on_host() and self._opened and multiplied(self._forms)

    @cached_property
    def _opened(self) -> bool:
        """Whether embeddings are in NumPy's memory, and there are blocks."""
        tables = (self.slow.embeddings, self.slow.codebooks, self.fast.embeddings)
        stacks = (self.slow.transformer, self.fast.transformer)
        return all(isinstance(table.form, Compiled | Table) for table in tables) and all(s.blocks for s in stacks)

    @cached_property
    def _forms(self) -> set[type]:
        """Of the matrices of a step."""
        project = [] if self.fast.project_in is None else [self.fast.project_in]
        blocks = [*self.slow.transformer.blocks, *self.fast.transformer.blocks]
        return {type(w.form) for w in (self.slow.head, self.fast.output, *project, *block_matrices(blocks))}

    @cached_property
    def _made(self) -> _Made:
        return _Made(self.slow, self.fast)

    @np.errstate(all="ignore")  # weights that are no numbers show in the logits
    def step(self, tokens: mx.array, frame: mx.array, cache: HostCache) -> tuple[mx.array, mx.array]:
        """As `SlowAR.step`; frame: `dual_ar.State`'s."""
        made, config = self._made, self.config
        ids, of_books = made.head_ids[np.asarray(tokens)], np.asarray(frame)[:, 1:] + made.book_offsets
        x = self.slow.embeddings.form.opened(ids)
        acoustic = self.slow.codebooks.form.opened(of_books.reshape(-1)).reshape(*of_books.shape, -1).sum(axis=1)
        semantic = (ids >= config.semantic_begin) & (ids <= config.semantic_end)
        x = np.where(semantic[:, None], (x + acoustic) * np.float32(embedding_scale(config)), x)
        hidden = made.slow(x, len(ids), cache)
        return mx.array(hidden), mx.array(normed(hidden, self.slow.norm_eps) * made.slow_norm)

    @np.errstate(all="ignore")
    def pick(
        self,
        outputs: tuple[mx.array, mx.array],
        window: mx.array,
        uniforms: mx.array,
        may_end: list[bool],
        settings: SamplerSettings,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """As `dual_ar`'s pick -> tokens int32 [B], codes int32 [B, C], the next window, and whether all logits were
        numbers, bool [B]."""
        made, (hidden, last) = self._made, map(np.asarray, outputs)
        draws, logits = np.asarray(uniforms), made.head(last)
        finite = [np.isfinite(logits).all(axis=1)]
        tokens, following = host_sampler.draw_semantic(
            logits, draws[:, :2], np.asarray(window), np.array(may_end), settings
        )
        codes = [np.minimum(tokens, self.slow.end_token - 1)]
        x = last if self.config.norm_fast_input else hidden
        x = x if made.project_in is None else made.project_in(x)
        batch, cache = len(x), HostFrameCache(self.fast.layers)
        # the first two positions in one pass, row b * 2 + t
        x = np.stack([x, self.fast.embeddings.form.opened(codes[0])], axis=1).reshape(2 * batch, -1)
        for k in range(1, self.config.num_codebooks):
            x = made.fast(x, batch, cache).reshape(batch, -1, x.shape[1])[:, -1]
            logits = made.output(normed(x, self.fast.norm_eps) * made.fast_norm)
            finite.append(np.isfinite(logits).all(axis=1))
            codes.append(host_sampler.draw(logits, draws[:, k + 1 : k + 2], settings))
            if k + 1 < self.config.num_codebooks:
                x = self.fast.embeddings.form.opened(codes[-1])
        return tokens, np.stack(codes, axis=1), following, np.all(finite, axis=0)


class _Made:
    """What the steps read, in NumPy's memory."""

    def __init__(self, slow: SlowAR, fast: FastAR):
        self.slow, self.fast = HostStack(slow.transformer), HostStack(fast.transformer)
        self.head, self.output = product(slow.head), product(fast.output)
        self.project_in = None if fast.project_in is None else product(fast.project_in)
        self.slow_norm, self.fast_norm = np.asarray(slow.norm), np.asarray(fast.norm)
        self.head_ids, self.book_offsets = np.asarray(slow.head_ids), np.asarray(slow.book_offsets)
