"""Fast-AR: the small decoder inside each frame. Completes a semantic code with the residual ones.

Position 0 is the Slow-AR's hidden state, position 1 the semantic code, then one position per residual code; the logits
after position k predict codebook k. Nothing survives the frame.
"""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx

from ..config import ModelConfig
from ..layers.products import normed
from ..layers.scope import Scope
from ..layers.short_cache import FrameCache
from ..layers.transformer import Transformer


class FastAR:
    def __init__(self, scope: Scope, config: ModelConfig, rope_dtype: mx.Dtype = mx.bfloat16):
        self.config, (_, sizes) = config, config.transformers
        self.layers, self.norm_eps = sizes.layers, sizes.norm_eps
        self.project_in = scope.linear("fast_project_in") if config.fast_project_in else None
        self.embeddings, self.output = scope.linear("fast_embeddings"), scope.linear("fast_output")
        self.transformer = Transformer(scope, sizes, rope_dtype, prefix="fast_layers")
        self.norm = scope.vector("fast_norm")

    def input(self, hidden: mx.array, last: mx.array) -> mx.array:
        """Position 0 from the two outputs of the Slow-AR, [B, slow dim] -> [B, dim]."""
        x = last if self.config.norm_fast_input else hidden
        return x if self.project_in is None else self.project_in(x)

    def complete(self, x0: mx.array, semantic: mx.array, draw: Callable[[mx.array, int], mx.array]) -> list[mx.array]:
        """x0 [B, dim], semantic codes int32 [B] -> all codes, a list of num_codebooks arrays int32 [B].

        `draw(logits [B, codebook_size], k)` picks codebook k's code; what it picks is fed back as it is."""
        batch, codes, cache = x0.shape[0], [semantic], FrameCache(self.layers)
        # the first two positions in one pass, row b * 2 + t
        x = mx.stack([x0, self.embeddings.rows(semantic)], axis=1).reshape(2 * batch, -1)
        for k in range(1, self.config.num_codebooks):
            x = self.transformer(x, batch, cache)
            last = x if k > 1 else x.reshape(batch, 2, -1)[:, 1]
            codes.append(draw(self.logits(last), k))
            if k + 1 < self.config.num_codebooks:
                x = self.embeddings.rows(codes[-1])
        return codes

    def logits(self, x: mx.array) -> mx.array:
        """Output of the stack [B, dim] -> [B, codebook_size]."""
        return normed(self.output, x, self.norm, self.norm_eps)
