"""The loop over frames: repeatable, stoppable, bounded; and caches that give what a plain run gives."""

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.errors import GenerationError
from s2mlx.generate import Request, check_room, generate
from s2mlx.layers.cache import BatchCache
from s2mlx.options import Sampling
from s2mlx.slow_ar import SlowAR

from . import goldens

SAMPLING = Sampling()


@pytest.fixture(scope="module")
def dual_ar():
    return goldens.model("q4_k_m", None).dual_ar


def matrix(name="text_only"):
    return goldens.arrays("prompts_s2cpp.npz")[name]


def run(dual_ar, *, seed=1, frames=12, least=12, **kwargs):
    *got, last = generate(dual_ar, Request(matrix(), seed, frames, least), SAMPLING, **kwargs)
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
    """With and without a frame under way ahead, and whatever ends the speech."""
    for frames, least in ((12, 12), (200, 0)):
        now = run(dual_ar, frames=frames, least=least, ahead=False)
        late = run(dual_ar, frames=frames, least=least, ahead=True)
        np.testing.assert_array_equal(now[0], late[0])
        assert now[1] == late[1]


def ending(dual_ar, **kwargs):
    """Seeds until the model stops by itself within 200 frames."""
    for seed in range(40):
        codes, reason = run(dual_ar, seed=seed, frames=200, least=0, **kwargs)
        if reason == "stop":
            return seed, codes
    pytest.fail("no seed of 40 ends by itself")


def test_the_end_is_not_a_frame_and_min_frames_holds_it_off(dual_ar):
    seed, codes = ending(dual_ar)
    assert codes.shape[1] < 200
    held, _ = run(dual_ar, seed=seed, frames=codes.shape[1] + 1, least=codes.shape[1] + 1)
    assert held.shape[1] == codes.shape[1] + 1
    np.testing.assert_array_equal(held[:, :-1], codes)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("after", [0, 1, 5])
def test_cancel_ends_within_one_frame(dual_ar, ahead, after):
    said = []
    frames = []
    for frame in generate(dual_ar, Request(matrix(), 1, 100, 100), SAMPLING, ahead=ahead,
                          keep_going=lambda: len(frames) < after and not said):
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
        next(generate(dual_ar, Request(matrix(), 1, context, 0), SAMPLING))


def test_chunked_prefill_equals_whole(dual_ar, monkeypatch):
    whole = dual_ar.prefill(matrix("ref"), dual_ar.slow.new_cache())[1]
    for size in (1, 5, 64):
        monkeypatch.setattr("s2mlx.slow_ar.PREFILL_CHUNK", size)
        assert goldens.rms(dual_ar.prefill(matrix("ref"), dual_ar.slow.new_cache())[1], whole) < 1e-5


def test_prefilled_reference_frames_equal_single_steps(dual_ar):
    """The embedding of a frame in the prompt is that of a generated one."""
    prompt = matrix("ref")
    begin = int(np.argmax(prompt[0] >= dual_ar.config.semantic_begin))
    frames = prompt[:, begin : begin + 12]
    whole, stepped = dual_ar.slow.new_cache(), dual_ar.slow.new_cache()
    want = dual_ar.prefill(prompt[:, : begin + 12], whole)[1]
    dual_ar.prefill(prompt[:, :begin], stepped)
    for column in frames.T:
        token = mx.array([int(column[0]) - dual_ar.config.semantic_begin])
        _, got = dual_ar.slow.step(token, mx.array(column[None, 1:]), stepped)
    assert goldens.rms(got, want) < 1e-5


def test_codes_of_text_columns_do_not_count(dual_ar):
    odd = matrix().copy()
    odd[1:] = 77
    want = dual_ar.prefill(matrix(), dual_ar.slow.new_cache())[1]
    assert goldens.rms(dual_ar.prefill(odd, dual_ar.slow.new_cache())[1], want) == 0


def test_cache_grows_in_steps_and_holds_nothing_for_the_context(dual_ar):
    slow: SlowAR = dual_ar.slow
    cache, config = slow.new_cache(), slow.config.slow
    assert cache.nbytes == 0
    row = 2 * config.layers * config.kv_heads * config.head_dim * 4
    dual_ar.prefill(matrix(), cache)
    assert cache.nbytes == 256 * row
    dual_ar.prefill(np.tile(matrix(), (1, 8)), cache)
    assert cache.offset == 9 * matrix().shape[1] and cache.nbytes == 512 * row


def test_fork_leaves_the_original_alone(dual_ar):
    cache = dual_ar.slow.new_cache()
    dual_ar.prefill(matrix("ref")[:, :40], cache)
    want = dual_ar.prefill(matrix("ref")[:, 40:], cache.fork())[1]
    dual_ar.prefill(matrix(), cache.fork())
    assert cache.offset == 40
    assert goldens.rms(dual_ar.prefill(matrix("ref")[:, 40:], cache.fork())[1], want) == 0


def test_sequences_of_different_lengths_step_together(dual_ar):
    slow, alone, together = dual_ar.slow, [], []
    tokens, codes = mx.array([3, 5]), mx.array(np.arange(20).reshape(2, 10).astype(np.int32))
    for i, name in enumerate(("text_only", "ref")):
        for store in (alone, together):
            store.append(slow.new_cache())
            dual_ar.prefill(matrix(name), store[-1])
    want = [slow.step(tokens[i : i + 1], codes[i : i + 1], cache)[1] for i, cache in enumerate(alone)]
    got = slow.step(tokens, codes, BatchCache(together))[1]
    assert goldens.rms(got, mx.concatenate(want)) < 1e-5
