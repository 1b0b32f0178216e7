"""Slow-AR: the decoder over time. One position per text token or frame; predicts the next semantic token.

Input embedding: E[id], and for a semantic id (E[id] + sum_i C[i * codebook_size + code_i]) / sqrt(num_codebooks + 1).
The output head is tied to E and restricted to the rows that can ever be sampled: the semantic tokens in order, then
`<|im_end|>` - 4097 of 155776 rows. Indices into that head are called *tokens* here: token t < codebook_size is semantic
code t, the last token is the end.
"""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import numpy as np

from ..config import ModelConfig
from ..layers.cache import Cache, KVCache
from ..layers.elementwise import fused
from ..layers.scope import Scope
from ..layers.transformer import Transformer

PREFILL_CHUNK = 512  # positions per pass over the prompt: bounds the activations, not the result


class SlowAR:
    def __init__(self, scope: Scope, config: ModelConfig, end_id: int, rope_dtype: mx.Dtype = mx.bfloat16):
        """`end_id`: vocabulary id of `<|im_end|>`."""
        self.config, self.end_id, (sizes, _) = config, end_id, config.transformers
        self.norm_eps = sizes.norm_eps
        self.embeddings, self.codebooks = scope.linear("embeddings"), scope.linear("codebook_embeddings")
        self.transformer = Transformer(scope, sizes, rope_dtype)
        self.norm = scope.vector("norm")
        semantic = np.arange(config.semantic_begin, config.semantic_end + 1)
        self.end_token = len(semantic)
        self.head_ids = mx.array(np.append(semantic, end_id).astype(np.int32))
        self.head = self.embeddings.select(self.head_ids)
        self.book_offsets = mx.arange(config.num_codebooks) * config.codebook_size
        mx.eval(self.head_ids, self.book_offsets)
        self._mix = fused(_mixing(config))

    def embed(self, ids: mx.array, codes: mx.array) -> mx.array:
        """ids int32 [N] of the vocabulary, codes int32 [N, num_codebooks] -> [N, dim] float32.

        Codes count only where the id is semantic."""
        x = self.embeddings.rows(ids)
        acoustic = self.codebooks.rows(codes + self.book_offsets).sum(axis=1)
        return self._mix(x, acoustic, ids[:, None])

    def forward(self, x: mx.array, batch: int, cache: Cache) -> tuple[mx.array, mx.array]:
        """x [B * T, dim] -> the last position of each sequence before and after the final norm, each [B, dim]."""
        hidden = self.transformer(x, batch, cache)
        if hidden.shape[0] > batch:
            hidden = hidden.reshape(batch, -1, hidden.shape[-1])[:, -1]
        return hidden, mx.fast.rms_norm(hidden, self.norm, self.norm_eps)

    def prefill(
        self, matrix: np.ndarray, cache: KVCache, keep_going: Callable[[], bool] = lambda: True
    ) -> tuple[mx.array, mx.array] | None:
        """Feed a prompt, int32 [1 + num_codebooks, T], T >= 1, in chunks; what `forward` gives for its end.

        `keep_going` is asked before each chunk; None when it said no."""
        columns = mx.array(np.ascontiguousarray(matrix.T, np.int32))
        for begin in range(0, matrix.shape[1], PREFILL_CHUNK):
            if not keep_going():
                return None
            part = columns[begin : begin + PREFILL_CHUNK]
            out = self.forward(self.embed(part[:, 0], part[:, 1:]), 1, cache)
            mx.eval(out, cache.arrays)
        return out

    def step(self, tokens: mx.array, codes: mx.array, cache: Cache) -> tuple[mx.array, mx.array]:
        """One frame on: tokens int32 [B] of the head and codes int32 [B, num_codebooks] -> as `forward`."""
        return self.forward(self.embed(self.head_ids[tokens], codes), tokens.shape[0], cache)

    def logits(self, normed: mx.array) -> mx.array:
        """After the final norm [B, dim] -> [B, semantic tokens + 1]; the last column is the end."""
        return self.head(normed)


def embedding_scale(config: ModelConfig) -> float:
    """Of a frame's embedding: the sum of its token's and its codes'."""
    return (config.num_codebooks + 1) ** -0.5 if config.scale_codebook_embeddings else 1.0


def _mixing(config: ModelConfig) -> Callable[[mx.array, mx.array, mx.array], mx.array]:
    """-> mix(x, acoustic, ids): the acoustic part counts where the id is semantic."""
    scale = embedding_scale(config)

    def mix(x: mx.array, acoustic: mx.array, ids: mx.array) -> mx.array:
        semantic = (ids >= config.semantic_begin) & (ids <= config.semantic_end)
        return mx.where(semantic, (x + acoustic) * scale, x)

    return mix
