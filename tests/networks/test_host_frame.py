"""Frames in NumPy: the same as MLX's, whatever the past is made of."""

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.layers import cache as cache_module
from s2mlx.layers.cache import BatchCache
from s2mlx.networks.dual_ar import State
from s2mlx.networks.host_frame import HostFrame
from s2mlx.networks.load import load_model
from s2mlx.options import Sampling
from tests import goldens
from tests.synthetic import make_model

SHAPES = {
    "q8_0": dict(type="q8_0", layers=1),
    "q/k norm everywhere, a head a key": dict(fast_qk_norm=True, kv_heads=4),
    "no q/k norm, a narrower Fast-AR, unscaled": dict(qk_norm=False, fast_dim=32, project_in=True, scale=False),
    "the hidden state as it is": dict(norm_fast_input=False, codebooks=3),
}


@pytest.fixture(scope="module", params=["q4_k_m", *SHAPES])
def dual_ar(request, tmp_path_factory):
    if request.param not in SHAPES:
        return goldens.model(request.param, None).dual_ar
    path = make_model(tmp_path_factory.mktemp("model") / "m.gguf", codec=False, **SHAPES[request.param])
    return load_model(path, goldens.GOLDEN / "tokenizer.json").dual_ar


def prompt(model, length, seed=0):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, model.config.codebook_size, (1 + model.config.num_codebooks, length), np.int32)
    matrix[0] = np.where(rng.random(length) < 0.5, matrix[0] % 50, model.config.semantic_begin + matrix[1])
    return matrix


class Walk:
    """Steps of a model whose codes are drawn with numbers that do not depend on what is drawn."""

    def __init__(self, model):
        self.model, self.rng = model, np.random.default_rng(1)
        self.pick = model.picker(Sampling(temperature=0.9, top_p=0.95, top_k=20))
        self.seen = []

    def draws(self, rows):
        return mx.array(self.rng.random((rows, self.model.config.num_codebooks + 1), np.float32))

    def first(self, cache, length, seed):
        outputs = self.model.prefill(prompt(self.model, length, seed), cache)
        state = self.model.first(outputs, self.pick, self.draws(1), [False])
        self.seen.append(state.read())
        return state

    def steps(self, state, cache, count):
        for _ in range(count):
            rows = len(state.tokens)
            outputs = self.model.step(state, cache)
            state = self.pick(outputs, state.window, self.draws(rows), [False] * rows)
            self.seen += [state.read(), *map(np.array, outputs)]
        return state


def walk(model):
    """A prompt and steps; a fork and an extension of it; both in one batch; a cache that is wound back."""
    w, cache = Walk(model), model.new_cache()
    state = w.steps(w.first(cache, 9, 0), cache, 7)
    twin, more = cache.fork(), cache.extend()
    other = w.steps(state, twin, 3)
    fresh = w.steps(w.first(more, 4, 1), more, 2)
    w.steps(State.join([other, fresh]), BatchCache([twin, more]), 4)
    state = w.steps(state, cache, 2)
    copy = cache.fork()
    w.steps(w.steps(state, copy, 1), cache, 2)
    w.steps(state, copy, 1)
    twin.rewind(11)
    w.steps(other, twin, 2)
    assert (cache.offset, copy.offset, twin.offset, more.offset) == (20, 20, 13, 26)
    return w.seen


@pytest.mark.parametrize("tail", [3, 64])
def test_the_frames_are_those_of_mlx(dual_ar, monkeypatch, tail):
    monkeypatch.setattr(cache_module, "_TAIL", tail)
    assert dual_ar.host.runs()
    got = walk(dual_ar)
    monkeypatch.setattr(HostFrame, "runs", lambda self: False)
    for a, b in zip(got, walk(dual_ar), strict=True):
        assert np.abs(a - b).max() < (1e-4 if a.dtype == np.float32 else 1)


@pytest.mark.parametrize("size", [2, 5, 8])
def test_a_batch_says_what_each_sequence_says_alone(dual_ar, size):
    """To the bit: a book's sentences are spoken several at once, or not, as the machine has time."""
    w, alone = Walk(dual_ar), []
    for seed in range(size):
        cache = dual_ar.new_cache()
        alone.append((w.first(cache, 5 + seed, seed), cache))
    draws = w.draws(size)
    state, caches = State.join([state for state, _ in alone]), BatchCache([cache.fork() for _, cache in alone])
    several = dual_ar.step(state, caches)
    frames = w.pick(several, state.window, draws, [False] * size).read()
    for i, (state, cache) in enumerate(alone):
        one = dual_ar.step(state, cache)
        for a, b in zip(one, several):
            np.testing.assert_array_equal(np.array(a)[0], np.array(b)[i])
        np.testing.assert_array_equal(w.pick(one, state.window, draws[i : i + 1], [False]).read()[0], frames[i])


def test_a_past_in_half_precision_is_left_to_mlx(dual_ar, monkeypatch):
    monkeypatch.setattr(dual_ar, "cache_dtype", mx.float16)
    w, cache = Walk(dual_ar), dual_ar.new_cache()
    assert w.steps(w.first(cache, 5, 0), cache, 2) is not None and cache.body[0][0].dtype == mx.float16


def test_what_numpy_does_not_multiply_is_left_to_mlx(dual_ar, monkeypatch):
    monkeypatch.setenv("S2MLX_HOST_BLAS", "off")
    assert not dual_ar.host.runs()
    small = load_model(goldens.path("tiny-q4_k_m.gguf"), goldens.GOLDEN / "tokenizer.json").dual_ar
    monkeypatch.delenv("S2MLX_HOST_BLAS")
    assert not small.host.runs()  # was loaded for MLX
