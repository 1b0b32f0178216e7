"""How long the parts of a loaded model take. Uses real steps: the state of one is the input of the next."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from ..codec import Codec
from ..layers.cache import BatchCache
from ..networks import host_sampler
from ..networks.dual_ar import DualAR, State
from ..networks.generate import Generation, generate
from ..networks.sampler import RAS_WINDOW, drawing, make_sampler, make_semantic_sampler, uniforms
from ..options import Sampling

WARM_UP = 2  # frames before those that are timed
_CHUNKS = (1, 4, 16)  # frames that the codec decodes at a time


@dataclass(frozen=True)
class Times:
    """Seconds of several tries, warm-up left out."""

    median: float
    low: float
    high: float
    tries: int

    @classmethod
    def of(cls, seconds: list[float]) -> Times:
        return cls(statistics.median(seconds), min(seconds), max(seconds), len(seconds))

    def __truediv__(self, n: float) -> Times:
        return Times(self.median / n, self.low / n, self.high / n, self.tries)


def timed(work: Callable[[], object], tries: int, warm_up: int = 1) -> Times:
    seconds = []
    for _ in range(warm_up + tries):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return Times.of(seconds[warm_up:])


def prompt(model: DualAR, positions: int) -> np.ndarray:
    """A prompt of text, int32 [1 + num_codebooks, positions]."""
    matrix = np.zeros((1 + model.config.num_codebooks, positions), np.int32)
    matrix[0] = np.arange(positions) % min(200, model.config.vocab_size)
    return matrix


def prefill(model: DualAR, positions: int, tries: int = 2) -> Times:
    """A whole prompt."""
    matrix = prompt(model, positions)
    return timed(lambda: model.prefill(matrix, model.new_cache()), tries)


def frames(model: DualAR, positions: int, count: int) -> tuple[Times, float]:
    """A frame of the real loop after a prompt, and the synchronisations it takes."""
    request = Generation(prompt(model, positions), seed=1, max_frames=count + WARM_UP, min_frames=count + WARM_UP)
    with _Count() as synchronisations:
        seconds, before = [], None
        for frame in generate(model, request, Sampling()):
            now = time.perf_counter()
            if frame.codes is not None and before is not None:
                seconds.append(now - before)
            elif before is None:
                synchronisations.reset()
            before = now
    return Times.of(seconds[1 : count + 1]), synchronisations.made / (count + 1)


def batch(model: DualAR, positions: int, count: int, size: int) -> Times:
    """A frame of `size` sequences in step, each after a prompt of its own."""
    step = _Steps(model, positions, size)
    return timed(step, count)


def parts(model: DualAR, positions: int, count: int) -> dict[str, Times]:
    """`slow`: a step of the Slow-AR. `fast`: head and Fast-AR. `sampler`: all draws of a frame, alone."""
    step = _Steps(model, positions, 1)
    slow, pick, sampler = timed(step.slow, count), timed(step.pick, count), _sampler(model, count)
    rest = lambda seconds: max(0.0, seconds - sampler.median)
    fast = Times(rest(pick.median), rest(pick.low), rest(pick.high), pick.tries)
    return {"slow": slow, "fast": fast, "sampler": sampler}


def codec(codec: Codec, count: int = 3) -> dict[int, Times]:
    """Seconds per frame when the stream decodes so many frames at a time."""

    def chunked(size):
        stream = codec.stream()
        codes = np.random.default_rng(0).integers(0, 64, (codec.config.num_codebooks, size)).astype(np.int32)
        return timed(lambda: stream.decode(codes), count) / size

    return {size: chunked(size) for size in _CHUNKS}


class _Steps:
    """A batch that goes on frame by frame; call it for the next."""

    def __init__(self, model: DualAR, positions: int, size: int):
        self.model, self.pick_ = model, model.picker(Sampling())
        width = model.config.num_codebooks + 1
        self.uniforms = mx.array(np.stack([next(uniforms(seed, width)) for seed in range(size)]))
        self.open = [False] * size
        caches, states = [model.new_cache() for _ in range(size)], []
        for i, cache in enumerate(caches):
            outputs = model.prefill(prompt(model, positions), cache)
            assert outputs is not None  # nobody cancels
            self.outputs = outputs
            states.append(model.first(outputs, self.pick_, self.uniforms[i : i + 1], [False]))
        self.state = State.join(states) if size > 1 else states[0]
        self.cache = BatchCache(caches) if size > 1 else caches[0]
        mx.eval(self.state.arrays, self.uniforms)

    def __call__(self) -> None:
        self.state = self.model.next(self.state, self.cache, self.pick_, self.uniforms, self.open)
        mx.async_eval(self.state.arrays)
        self.state.read()

    def slow(self) -> None:
        self.outputs = self.model.step(self.state, self.cache)
        mx.eval(self.outputs)

    def pick(self) -> None:
        mx.eval(self.pick_(self.outputs, self.state.window, self.uniforms, self.open).arrays)


def _sampler(model: DualAR, count: int) -> Times:
    config, first, other = model.config, make_semantic_sampler(Sampling()), make_sampler(Sampling())
    semantic = 4 * mx.random.normal((1, model.end_token + 1))
    residual = 4 * mx.random.normal((1, config.codebook_size))
    uniform, window, may_end = mx.array([[0.3, 0.6]]), mx.full((1, RAS_WINDOW), -1, mx.int32), mx.array([1], mx.int32)
    mx.eval(semantic, residual, uniform, window, may_end)

    rules, open_end = drawing(Sampling()), np.array([True])
    logits, of_book, draw, before = map(np.array, (semantic, residual, uniform, window))

    def draws_on_host():
        host_sampler.draw_semantic(logits, draw, before, open_end, rules)
        for _ in range(config.num_codebooks - 1):
            host_sampler.draw(of_book, draw[:, :1], rules)

    def draws():
        mx.eval(
            first(semantic, uniform, window, may_end),
            [other(residual, uniform[:, :1]) for _ in range(config.num_codebooks - 1)],
        )

    return timed(draws_on_host if model.host.runs() else draws, count)


class _Count:
    """Counts how often the loop waits for the device."""

    def __enter__(self):
        self.made, self._read, self._eval = 0, State.read, mx.eval
        State.read, mx.eval = self._counting(self._read), self._counting(self._eval)
        return self

    def __exit__(self, *_):
        State.read, mx.eval = self._read, self._eval

    def reset(self) -> None:
        self.made = 0

    def _counting(self, real):
        def call(*arguments):
            self.made += 1
            return real(*arguments)

        return call
