"""The loop over frames: repeatable, stoppable, bounded; and caches that give what a plain run gives."""

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.errors import GenerationError
from s2mlx.layers.cache import BatchCache
from s2mlx.networks.dual_ar import State
from s2mlx.networks.generate import Generation, check_room, generate
from s2mlx.networks.generate_batch import generate_batch
from s2mlx.networks.host_frame import HostFrame
from s2mlx.networks.load import load_model
from s2mlx.networks.slow_ar import SlowAR
from s2mlx.options import Sampling
from tests import goldens
from tests.synthetic import make_model

SAMPLING = Sampling()


@pytest.fixture(scope="module")
def dual_ar():
    return goldens.model("q4_k_m", None).dual_ar


def matrix(name="text_only"):
    return goldens.arrays("prompts_s2cpp.npz")[name]


def run(dual_ar, *, seed=1, frames=12, least=12, **kwargs):
    *got, last = generate(dual_ar, Generation(matrix(), seed, frames, least), SAMPLING, **kwargs)
    assert all(f.finish_reason is None for f in got) and last.codes is None
    codes = np.stack([f.codes for f in got], axis=1) if got else np.zeros((10, 0), np.int32)
    return codes, last.finish_reason


def test_same_seed_same_codes(dual_ar):
    first, _ = run(dual_ar)
    np.testing.assert_array_equal(run(dual_ar)[0], first)
    assert not np.array_equal(run(dual_ar, seed=2)[0], first)


def test_more_frames_continue_the_same_speech(dual_ar):
    long, reason = run(dual_ar, frames=20, least=20)
    np.testing.assert_array_equal(run(dual_ar)[0], long[:, :12])
    assert reason == "length"


def test_reading_one_frame_late_changes_nothing(dual_ar):
    np.testing.assert_array_equal(run(dual_ar, ahead=False)[0], run(dual_ar, ahead=True)[0])


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """One layer each, so that many frames are cheap."""
    path = make_model(tmp_path_factory.mktemp("small") / "m.gguf", layers=1, fast_layers=1, codec=False)
    return load_model(path, goldens.GOLDEN / "tokenizer.json").dual_ar


def ending(dual_ar):
    """A seed with which the model stops by itself after a few frames, and its codes."""
    for seed in range(100):
        codes, reason = run(dual_ar, seed=seed, frames=60, least=0)
        if reason == "stop" and codes.shape[1] > 2:
            return seed, codes
    pytest.fail("no seed of 100 ends by itself")


def test_the_end_is_not_a_frame_and_min_frames_holds_it_off(small):
    seed, codes = ending(small)
    for ahead in (False, True):
        again, reason = run(small, seed=seed, frames=60, least=0, ahead=ahead)
        np.testing.assert_array_equal(again, codes)
        assert reason == "stop"
    more = codes.shape[1] + 1
    held, _ = run(small, seed=seed, frames=more, least=more)
    assert held.shape[1] == more
    np.testing.assert_array_equal(held[:, :-1], codes)


def test_nothing_is_computed_between_a_frame_s_start_and_its_reading(dual_ar, monkeypatch):
    """On a GPU it would come after the next frame, which is under way by then, and the host would wait for both."""
    monkeypatch.setattr(HostFrame, "runs", lambda self: False)
    asked, read = [], State.read
    monkeypatch.setattr(mx, "async_eval", lambda arrays: asked.append([id(a) for a in arrays]))
    monkeypatch.setattr(mx, "eval", lambda *arrays, real=mx.eval: asked.append("eval") or real(*arrays))
    monkeypatch.setattr(State, "read", lambda self: asked.append(id(self.frame)) or read(self))
    run(dual_ar, ahead=True, frames=5, least=5)
    started = asked[asked.index("eval", 1) + 1 :] if "eval" in asked[1:] else asked
    starts = [i for i, a in enumerate(started) if isinstance(a, list)]
    reads = [i for i, a in enumerate(started) if isinstance(a, int)]
    assert "eval" not in started[starts[0] :] and len(starts) == len(reads) == 5
    for start, reading in zip(starts, reads):
        assert started[reading] in started[start] and reading > start  # what is read was among what was started
    assert starts[1] < reads[0]  # one frame ahead


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("after", [0, 1, 5])
def test_cancel_ends_within_one_frame(dual_ar, ahead, after):
    said = []
    frames = []
    for frame in generate(
        dual_ar,
        Generation(matrix(), 1, 100, 100),
        SAMPLING,
        ahead=ahead,
        keep_going=lambda: len(frames) < after and not said,
    ):
        if frame.codes is None:
            said.append(frame.finish_reason)
        else:
            frames.append(frame)
    assert said == ["cancelled"] and len(frames) <= after


def test_room_is_checked_before_anything_runs(dual_ar):
    context = dual_ar.config.context_length
    assert check_room(100, None, 512) == 412
    assert check_room(100, None, 32768) == 1024
    assert check_room(100, 7, 512) == 7
    for prompt, frames in ((512, None), (600, 5), (100, 413)):
        with pytest.raises(GenerationError):
            check_room(prompt, frames, 512)
    with pytest.raises(GenerationError):
        next(generate(dual_ar, Generation(matrix(), 1, context, 0), SAMPLING))


def test_chunked_prefill_equals_whole(dual_ar, monkeypatch):
    whole = dual_ar.prefill(matrix("ref"), dual_ar.new_cache())[1]
    for size in (1, 5, 64):
        monkeypatch.setattr("s2mlx.networks.slow_ar.PREFILL_CHUNK", size)
        assert goldens.rms(dual_ar.prefill(matrix("ref"), dual_ar.new_cache())[1], whole) < 1e-5


def test_prefilled_reference_frames_equal_single_steps(dual_ar):
    """The embedding of a frame in the prompt is that of a generated one."""
    prompt = matrix("ref")
    begin = int(np.argmax(prompt[0] >= dual_ar.config.semantic_begin))
    frames = prompt[:, begin : begin + 12]
    whole, stepped = dual_ar.new_cache(), dual_ar.new_cache()
    want = dual_ar.prefill(prompt[:, : begin + 12], whole)[1]
    dual_ar.prefill(prompt[:, :begin], stepped)
    for column in frames.T:
        token = mx.array([int(column[0]) - dual_ar.config.semantic_begin])
        _, got = dual_ar.slow.step(token, mx.array(column[None, 1:]), stepped)
    assert goldens.rms(got, want) < 1e-5


def test_codes_of_text_columns_do_not_count(dual_ar):
    odd = matrix().copy()
    odd[1:] = 77
    want = dual_ar.prefill(matrix(), dual_ar.new_cache())[1]
    assert goldens.rms(dual_ar.prefill(odd, dual_ar.new_cache())[1], want) == 0


def test_cache_grows_in_steps_and_holds_nothing_for_the_context(dual_ar):
    slow: SlowAR = dual_ar.slow
    cache, config = dual_ar.new_cache(), slow.config.slow
    assert cache.nbytes == 0
    row = 2 * config.layers * config.kv_heads * config.head_dim * 4
    dual_ar.prefill(matrix(), cache)
    assert cache.nbytes == 256 * row
    dual_ar.prefill(np.tile(matrix(), (1, 8)), cache)
    assert cache.offset == 9 * matrix().shape[1] and cache.nbytes == 512 * row


def test_fork_leaves_the_original_alone(dual_ar):
    cache = dual_ar.new_cache()
    dual_ar.prefill(matrix("ref")[:, :40], cache)
    want = dual_ar.prefill(matrix("ref")[:, 40:], cache.fork())[1]
    dual_ar.prefill(matrix(), cache.fork())
    assert cache.offset == 40
    assert goldens.rms(dual_ar.prefill(matrix("ref")[:, 40:], cache.fork())[1], want) == 0


def test_sequences_of_different_lengths_step_together(dual_ar):
    slow, alone, together = dual_ar.slow, [], []
    tokens, codes = mx.array([3, 5]), mx.array(np.arange(20).reshape(2, 10).astype(np.int32))
    for name in ("text_only", "ref"):
        for store in (alone, together):
            store.append(dual_ar.new_cache())
            dual_ar.prefill(matrix(name), store[-1])
    want = [slow.step(tokens[i : i + 1], codes[i : i + 1], cache)[1] for i, cache in enumerate(alone)]
    got = slow.step(tokens, codes, BatchCache(together))[1]
    assert goldens.rms(got, mx.concatenate(want)) < 1e-5


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_batch_gives_the_codes_of_runs_alone(small, width, ahead):
    """Sequences of different lengths join and leave; the shared beginning is stored once."""
    prefix = small.new_cache()
    small.prefill(matrix("ref")[:, :40], prefix)
    stopping, _ = ending(small)
    requests = [
        Generation(matrix("ref")[:, 40:], 5, 9, 9),
        Generation(matrix("text_only"), stopping, 60),
        Generation(matrix("ref")[:, 50:], 7, 4),
        Generation(matrix("text_only2"), 8, 12, 12),
    ]
    want = [list(generate(small, r, SAMPLING, cache=prefix.fork())) for r in requests]
    got = [[] for _ in requests]
    for number, frame in generate_batch(
        small, requests, SAMPLING, cache=prefix.extend, width=lambda: width, ahead=ahead
    ):
        got[number].append(frame)
    for alone, batched in zip(want, got):
        assert [f.finish_reason for f in alone] == [f.finish_reason for f in batched]
        for a, b in zip(alone[:-1], batched[:-1]):
            np.testing.assert_array_equal(a.codes, b.codes)
    assert prefix.offset == 40


@pytest.mark.parametrize("ahead", [False, True])
def test_a_batch_reads_the_weights_once_a_step(small, monkeypatch, ahead):
    calls = []
    for of in (SlowAR, HostFrame):
        monkeypatch.setattr(
            of, "step", lambda self, tokens, *rest, step=of.step: calls.append(len(tokens)) or step(self, tokens, *rest)
        )
    requests = [Generation(matrix(), seed, 6, 6) for seed in range(4)]
    frames = list(generate_batch(small, requests, SAMPLING, cache=small.new_cache, width=lambda: 4, ahead=ahead))
    assert len(frames) == 4 * 7
    assert calls == [4] * 5


@pytest.mark.parametrize("ahead", [False, True])
def test_a_cancelled_batch_ends_at_once(small, ahead):
    seen = []
    requests = [Generation(matrix(), seed, 100, 100) for seed in range(4)]
    for item in generate_batch(
        small, requests, SAMPLING, cache=small.new_cache, width=lambda: 2, keep_going=lambda: len(seen) < 6, ahead=ahead
    ):
        seen.append(item)
    assert [f.finish_reason for _, f in seen if f.codes is None] == ["cancelled", "cancelled"] and len(seen) < 12
