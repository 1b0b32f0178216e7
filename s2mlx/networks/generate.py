"""The loop: a generator of frames over a prompt matrix.

On a GPU the host reads frame n while frame n + 1 is already under way: one synchronisation a frame, one frame late.
When frame n turns out to be the end, the frame after it is dropped. On the CPU backend there is nothing to overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from ..device import on_gpu
from ..errors import GenerationError, NotFiniteError
from ..layers.cache import KVCache
from ..options import DEFAULT_MAX_FRAMES, Sampling
from ..results import CANCELLED, LENGTH, STOP
from .dual_ar import NOT_FINITE, DualAR, State
from .sampler import uniforms


@dataclass(frozen=True)
class Frame:
    """codes int32 [num_codebooks] of the next frame; or, as the last item, no codes and why it ended."""

    codes: np.ndarray | None
    finish_reason: str | None = None


@dataclass(frozen=True)
class Generation:
    """One sequence to generate. matrix int32 [1 + num_codebooks, T] is the part of the prompt not yet in the cache."""

    matrix: np.ndarray
    seed: int
    max_frames: int
    min_frames: int = 0


def check_room(prompt: int, max_frames: int | None, context: int) -> int:
    """The frame limit of a request, or `GenerationError` if the context cannot hold it. None: the default limit, or as
    many as fit."""
    room = context - prompt
    if room < 1:
        raise GenerationError(
            f"the prompt takes {prompt} positions and the model has {context}: shorten the text or the reference"
        )
    if max_frames is not None and max_frames > room:
        raise GenerationError(
            f"{max_frames} frames do not fit after a prompt of {prompt} positions in a context of "
            f"{context}: at most {room}"
        )
    return min(DEFAULT_MAX_FRAMES, room) if max_frames is None else max_frames


def read_frame(values: np.ndarray, model: DualAR) -> tuple[int, np.ndarray]:
    """A row of `State.read` -> the token, and the codes int32 [num_codebooks]. Raises `NotFiniteError`."""
    token = int(values[0])
    if token == NOT_FINITE:
        raise NotFiniteError(model.config.name)
    return token, np.array(values[1:], np.int32)


def generate(
    model: DualAR,
    request: Generation,
    sampling: Sampling,
    *,
    cache: KVCache | None = None,
    keep_going: Callable[[], bool] = lambda: True,
    ahead: bool | None = None,
) -> Iterator[Frame]:
    """Yield frames, then one item with the finish reason: stop, length or cancelled.

    cache: the past, of which `request.matrix` is the continuation; it is written to. keep_going: asked before every
    piece of work; the generator ends within one frame after it says no. ahead: build the next frame while one is read.
    """
    cache = model.new_cache() if cache is None else cache
    check_room(cache.offset + request.matrix.shape[1], request.max_frames, model.config.context_length)
    ahead = on_gpu() if ahead is None else ahead
    # 1. The prompt is read at once: keys and values into the cache, and what its last column says of the first frame.
    outputs = model.prefill(request.matrix, cache, keep_going)
    if outputs is None:
        yield Frame(None, CANCELLED)
        return
    pick, rows = model.picker(sampling), uniforms(request.seed, model.config.num_codebooks + 1)

    # 2. A frame is built: semantic token, then the other codebooks. Nothing waits; the device works on.
    def build(index: int, before: State | None) -> State:
        uniform, may_end = mx.array(next(rows)[None]), [index >= request.min_frames]
        if before is None:
            state = model.first(outputs, pick, uniform, may_end)
        else:
            state = model.next(before, cache, pick, uniform, may_end)
        mx.async_eval(state.arrays)
        return state

    state = build(0, None)
    for index in range(request.max_frames):
        last = index + 1 == request.max_frames
        following = build(index + 1, state) if ahead and not last else None
        # 3. It is read: the frame's one synchronisation.
        token, codes = read_frame(state.read()[0], model)
        # 4. It is the end, the frame limit, a cancel, or it is given out and the next one follows.
        if token == model.end_token:
            yield Frame(None, STOP)
            return
        yield Frame(codes)
        if last:
            break
        if not keep_going():
            yield Frame(None, CANCELLED)
            return
        state = following or build(index + 1, state)
    yield Frame(None, LENGTH)
