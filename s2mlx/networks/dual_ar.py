"""The two autoregressive networks as one model of frames, and the step from one frame to the next.

Everything in a step stays on the device: sampling, the repetition rule and the feedback of the codes. `State` is what
one step hands to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import mlx.core as mx
import numpy as np

from .. import device
from ..config import ModelConfig
from ..kernels.metal import rehearsal
from ..layers.cache import BatchCache, KVCache, SequenceCache
from ..layers.scope import Scope
from ..options import Sampling
from .fast_ar import FastAR
from .host_frame import HostFrame
from .sampler import RAS_WINDOW, drawing, make_sampler, make_semantic_sampler
from .slow_ar import SlowAR

# In the place of a frame's token, for who reads it: the logits are no numbers.
NOT_FINITE = -1


@dataclass
class State:
    """The newest frame of B sequences. tokens int32 [B] (of the head; end_token: no frame); frame int32 [B, 1 + C]:
    token (or NOT_FINITE) and codes side by side, for who reads them; window int32 [B, RAS_WINDOW]: the last semantic
    tokens that were kept, -1 where there is none yet."""

    tokens: mx.array
    frame: mx.array
    window: mx.array

    @property
    def codes(self) -> mx.array:
        """int32 [B, C]."""
        return self.frame[:, 1:]

    @property
    def arrays(self) -> list[mx.array]:
        return [self.tokens, self.frame, self.window]

    def read(self) -> np.ndarray:
        """`frame`, once it is computed. Adds no work: a GPU would do it after the frame that is under way."""
        return np.array(self.frame)

    def rows(self, numbers: list[int]) -> State:
        """Some of the sequences, at least one."""
        return State(*(a[mx.array(numbers)] for a in self.arrays))

    @staticmethod
    def join(rows: list[State]) -> State:
        return State(*(mx.concatenate(list(column)) for column in zip(*(r.arrays for r in rows))))


Outputs = tuple[mx.array, mx.array]  # of the Slow-AR: before and after its final norm


class Pick(Protocol):
    """Draws the frame that the Slow-AR's outputs lead to."""

    def __call__(
        self, outputs: Outputs, window: mx.array, uniforms: mx.array, may_end: list[bool], checked: bool = False
    ) -> State:
        """uniforms float32 [B, C + 1]: 0 and 1 are the semantic draw's and redraw's, k + 1 codebook k's. checked:
        whether the logits are numbers is computed along, and told by the frame's token; in NumPy it always is."""
        ...


class DualAR:
    def __init__(
        self,
        scope: Scope,
        config: ModelConfig,
        end_id: int,
        *,
        rope_dtype: mx.Dtype = mx.bfloat16,
        cache_dtype: mx.Dtype = mx.float32,
        first_in_window: bool = False,
    ):
        """cache_dtype: of keys and values of the past. first_in_window: the first semantic token counts as repeatable
        (s2.cpp); the official code leaves it out."""
        self.config, self.cache_dtype, self.first_in_window = config, cache_dtype, first_in_window
        self.slow = SlowAR(scope, config, end_id, rope_dtype)
        self.fast = FastAR(scope, config, rope_dtype)
        self.host = HostFrame(self.slow, self.fast)

    @property
    def end_token(self) -> int:
        return self.slow.end_token

    def new_cache(self) -> KVCache:
        """An empty past."""
        return KVCache(self.config.transformers[0].layers, self.cache_dtype)

    def kv_bytes(self, positions: int) -> int:
        """Bytes of keys and values of one sequence's `positions`."""
        slow, _ = self.config.transformers
        return 2 * slow.layers * slow.kv_heads * slow.head_dim * self.cache_dtype.size * positions

    def prefill(
        self, matrix: np.ndarray, cache: KVCache, keep_going: Callable[[], bool] = lambda: True
    ) -> Outputs | None:
        return self.slow.prefill(matrix, cache, keep_going)

    def picker(self, sampling: Sampling) -> Pick:
        """The function that draws a frame from the Slow-AR's outputs by these rules."""
        draw_semantic, draw = make_semantic_sampler(sampling), make_sampler(sampling)

        def pick(
            outputs: Outputs, window: mx.array, uniforms: mx.array, may_end: list[bool], checked: bool = False
        ) -> State:
            if self.host.runs():
                return self._picked_on_host(outputs, window, uniforms, may_end, sampling)
            hidden, last = outputs
            logits = [self.slow.logits(last)]
            for_semantic, *rest = mx.split(uniforms, list(range(2, self.config.num_codebooks + 1)), axis=1)
            tokens, window = draw_semantic(logits[0], for_semantic, window, mx.array(may_end, mx.int32))
            semantic = mx.minimum(tokens, self.end_token - 1)

            def draw_residual(of_book: mx.array, k: int) -> mx.array:
                logits.append(of_book)
                return draw(of_book, rest[k - 1])

            codes = self.fast.complete(self.fast.input(hidden, last), semantic, draw_residual)
            told = tokens
            if checked:
                finite = mx.stack([mx.isfinite(part).all(axis=-1) for part in logits]).all(axis=0)
                told = mx.where(finite, tokens, NOT_FINITE)
            return State(tokens, mx.concatenate([told, *codes]).reshape(1 + len(codes), -1).T, window)

        return pick

    def _picked_on_host(
        self, outputs: Outputs, window: mx.array, uniforms: mx.array, may_end: list[bool], sampling: Sampling
    ) -> State:
        tokens, codes, following, finite = self.host.pick(outputs, window, uniforms, may_end, drawing(sampling))
        told = np.where(finite, tokens, NOT_FINITE)[:, None]
        return State(mx.array(tokens), mx.array(np.concatenate([told, codes], axis=1)), mx.array(following))

    def rehearse(self, batch: int) -> None:
        """Have every kernel tried that a step of `batch` sequences, or of fewer, needs: see `metal.rehearsal`."""
        if not device.kernels_available():
            return
        pick, width, codebooks = self.picker(Sampling()), self.config.num_codebooks + 1, self.config.num_codebooks

        def read(cache: KVCache) -> Outputs:
            return self.slow.forward(
                self.slow.embed(mx.zeros(2, mx.int32), mx.zeros((2, codebooks), mx.int32)), 1, cache
            )

        with rehearsal():
            for size in (1, 2, 4, 8):
                if size > 1 and size // 2 >= batch:
                    break
                # as after a prompt alone; after a prefix and a prompt; after a prefix alone
                for prefixes in (0, 1, 2):
                    rows = [self.new_cache() for _ in range(size)]
                    for _ in range(prefixes):
                        outputs = [read(cache) for cache in rows]
                        rows = [cache.extend() for cache in rows]
                    if prefixes < 2:
                        outputs = [read(cache) for cache in rows]
                    draws = mx.zeros((size, width))
                    states = [self.first(out, pick, draws[:1], [True]) for out in outputs]
                    self.next(State.join(states), BatchCache(rows), pick, draws, [True] * size)

    def first(self, outputs: Outputs, pick: Pick, uniforms: mx.array, may_end: list[bool]) -> State:
        """The first frame after the prompt, for one sequence; checked, since weights that are no numbers show here."""
        empty = mx.full((1, RAS_WINDOW), -1, mx.int32)
        state = pick(outputs, empty, uniforms, may_end, checked=True)
        return state if self.first_in_window else State(state.tokens, state.frame, empty)

    def next(self, state: State, cache: SequenceCache, pick: Pick, uniforms: mx.array, may_end: list[bool]) -> State:
        """The frame after `state`; `cache` is the sequences' (a KVCache for one, a BatchCache for several)."""
        return pick(self.step(state, cache), state.window, uniforms, may_end)

    def step(self, state: State, cache: SequenceCache) -> Outputs:
        """The Slow-AR's, behind `state`."""
        if cache.on_host and self.host.runs():
            return self.host.step(state.tokens, state.frame, cache)
        return self.slow.step(state.tokens, state.codes, cache)
