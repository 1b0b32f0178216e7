"""Several sequences generated together: each step reads the weights once for all of them.

Sequences join when there is room and leave when they end. Each has its own seed, cache and limits, so its codes are
those of a run alone. As in `generate`, on a GPU a step is read while the next one is under way: of a sequence that
turns out to have ended, the frame after its end is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from ..device import on_gpu
from ..layers.cache import BatchCache, KVCache
from ..options import Sampling
from ..results import CANCELLED, LENGTH, STOP
from .dual_ar import DualAR, Pick, State
from .generate import Frame, Generation, check_room, read_frame
from .sampler import uniforms


@dataclass
class _Lane:
    """A sequence under way. built, read: frames so far. state: the newest one alone (None while it is in the batch)."""

    number: int
    request: Generation
    cache: KVCache
    rows: Iterator[np.ndarray]
    built: int = 0
    read: int = 0
    state: State | None = None

    def take(self) -> tuple[np.ndarray, bool]:
        """Randomness of the next frame, and whether it may be the end."""
        self.built += 1
        return next(self.rows), self.built > self.request.min_frames


def generate_batch(
    model: DualAR,
    requests: Iterable[Generation],
    sampling: Sampling,
    *,
    cache: Callable[[], KVCache],
    width: Callable[[], int],
    keep_going: Callable[[], bool] = lambda: True,
    ahead: bool | None = None,
) -> Iterator[tuple[int, Frame]]:
    """Yield (number of the request, frame) as they come, and for each request one last item with its finish reason.

    requests: asked for the next one when there is room for it. cache() makes the past that every request's matrix
    continues; width() tells how many may run at once, at least 1, and is asked whenever one could join. ahead: as in
    `generate`.
    """
    ahead = on_gpu() if ahead is None else ahead
    pick = model.picker(sampling)
    waiting: Iterator[tuple[int, Generation]] = enumerate(requests)
    lanes: list[_Lane] = []
    state: State | None = None
    while True:
        # 1. Those who wait join, one after the other, as far as there is room: each reads its own prompt.
        joined = False
        while len(lanes) < max(1, width()) and (numbered := next(waiting, None)) is not None:
            lane = _start(model, *numbered, cache(), pick, keep_going)
            if lane is None:  # cancelled
                waiting = iter(())
                break
            lanes.append(lane)
            joined = True
        if not lanes:
            return
        # 2. The newcomers' first frames are put beside those of the others: one row a sequence.
        if joined or state is None:
            state = _join(lanes, state)
        going = keep_going()
        go_on = going and any(lane.read + 1 < lane.request.max_frames for lane in lanes)
        # 3. On a GPU the next step begins before this one is read.
        following = _step(model, lanes, state, pick) if ahead and go_on else None
        # 4. The step is read, a frame of each sequence, and given out with the end of those that ended.
        values, staying = state.read(), []
        for i, lane in enumerate(lanes):
            token, codes = read_frame(values[i], model)
            reason = STOP if token == model.end_token else None
            if reason is None:
                lane.read += 1
                yield lane.number, Frame(codes)
                reason = LENGTH if lane.read == lane.request.max_frames else None if going else CANCELLED
            if reason is None:
                staying.append(i)
            else:
                yield lane.number, Frame(None, reason)
        if not going:
            return
        # 5. Those that ended leave, and the others take the next step if it has not begun.
        newest, everybody = following or state, len(lanes)
        lanes = [lanes[i] for i in staying]
        if not lanes:
            state = None
            continue
        state = newest if len(lanes) == everybody else newest.rows(staying)
        if following is None:
            state = _step(model, lanes, state, pick)


def _start(
    model: DualAR,
    number: int,
    request: Generation,
    cache: KVCache,
    pick: Pick,
    keep_going: Callable[[], bool],
) -> _Lane | None:
    check_room(cache.offset + request.matrix.shape[1], request.max_frames, model.config.context_length)
    outputs = model.prefill(request.matrix, cache, keep_going)
    if outputs is None:
        return None
    lane = _Lane(number, request, cache, uniforms(request.seed, model.config.num_codebooks + 1))
    uniform, may_end = lane.take()
    lane.state = model.first(outputs, pick, mx.array(uniform[None]), [may_end])
    return lane


def _join(lanes: list[_Lane], state: State | None) -> State:
    """The batch's state with the newcomers' below it."""
    rows = ([] if state is None else [state]) + [lane.state for lane in lanes if lane.state is not None]
    for lane in lanes:
        lane.state = None
    return rows[0] if len(rows) == 1 else State.join(rows)


def _step(model: DualAR, lanes: list[_Lane], state: State, pick: Pick) -> State:
    rows, may_end = zip(*(lane.take() for lane in lanes))
    cache = lanes[0].cache if len(lanes) == 1 else BatchCache([lane.cache for lane in lanes])
    state = model.next(state, cache, pick, mx.array(np.stack(rows)), list(may_end))
    mx.async_eval(state.arrays)
    return state
