"""Fast-AR: the small decoder inside each frame. Completes a semantic code with the residual ones.

Position 0 is the Slow-AR's hidden state, position 1 the semantic code, then one position per residual code; the logits
after position k predict codebook k. Nothing survives the frame.
"""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx

from .config import ModelConfig
from .layers.transformer import Transformer


class FrameCache:
    """Keys and values of the few positions of one frame, for any number of sequences in step."""

    def __init__(self, layers: int):
        self.offset = 0
        self.past: list[tuple[mx.array, mx.array] | None] = [None] * layers

    def attend(self, layer: int, q: mx.array, k: mx.array, v: mx.array, scale: float) -> mx.array:
        if self.past[layer] is not None:
            k, v = (mx.concatenate([old, new], axis=2) for old, new in zip(self.past[layer], (k, v)))
        self.past[layer] = k, v
        return mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask="causal" if q.shape[2] > 1 else None)

    def rotation(self, rope, length: int) -> mx.array:
        return rope.at(self.offset, length)

    def advance(self, length: int) -> None:
        self.offset += length


class FastAR:
    def __init__(self, scope, config: ModelConfig, rope_dtype: mx.Dtype = mx.bfloat16):
        self.config = config
        self.project_in = scope.linear("fast_project_in") if config.fast_project_in else None
        self.embeddings, self.output = scope.linear("fast_embeddings"), scope.linear("fast_output")
        self.transformer = Transformer(scope, config.fast, rope_dtype, prefix="fast_layers")
        self.norm = scope.vector("fast_norm")

    def input(self, hidden: mx.array, normed: mx.array) -> mx.array:
        """Position 0 from the two outputs of the Slow-AR, [B, 1, slow dim] -> [B, 1, dim]."""
        x = normed if self.config.norm_fast_input else hidden
        return x if self.project_in is None else self.project_in(x)

    def complete(self, x0: mx.array, semantic: mx.array, draw: Callable[[mx.array, int], mx.array]) -> list[mx.array]:
        """x0 [B, 1, dim], semantic codes int32 [B] -> all codes, a list of num_codebooks arrays int32 [B].

        `draw(logits [B, codebook_size], k)` picks codebook k's code; what it picks is fed back as it is."""
        codes, cache = [semantic], FrameCache(self.config.fast.layers)
        x = mx.concatenate([x0, self.embeddings.rows(semantic[:, None])], axis=1)  # two positions in one pass
        for k in range(1, self.config.num_codebooks):
            codes.append(draw(self.logits(self.transformer(x, cache)), k))
            x = self.embeddings.rows(codes[-1][:, None])
        return codes

    def logits(self, x: mx.array) -> mx.array:
        """Output of the stack [B, T, dim] -> logits of the last position [B, codebook_size]."""
        return self.output(mx.fast.rms_norm(x[:, -1:], self.norm, self.config.fast.norm_eps))[:, 0]
