"""Nothing is built in the middle of a speech: a rehearsal meets every pipeline of the steps to come, and computes
nothing but the self-checks."""

import re
import warnings
from unittest import mock

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.codec import Codec
from s2mlx.kernels import metal
from s2mlx.layers.cache import BatchCache
from s2mlx.layers.scope import Scope
from s2mlx.networks.dual_ar import State
from s2mlx.options import Sampling
from s2mlx.weights import open_checkpoint
from tests.synthetic import make_model

from . import msl
from .test_frame import CODEBOOKS, TYPES, network, prompt


@pytest.fixture
def recorder(monkeypatch):
    """As on a Mac, where every kernel is right; what is launched is recorded."""
    recorder = msl.Recorder()
    monkeypatch.setattr("s2mlx.device.kernels_available", lambda: True)
    monkeypatch.setattr(mx, "default_device", lambda: mx.Device(mx.gpu))
    monkeypatch.setattr(metal, "launch", recorder.launch)
    monkeypatch.setattr(metal, "_agree", lambda a, b: mx.array(True))
    monkeypatch.setattr(metal, "_verdicts", {})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # a kernel that is left aside
        yield recorder


def pipelines(recorder):
    """What MLX would build: it names each by its kernel, its constants and the types of its inputs."""
    names = {re.search(r'host_name\("([^"]*)"\)', source)[1] for source in recorder.sources}
    recorder.sources.clear()
    return names


def test_a_shrinking_batch_builds_nothing(recorder, tmp_path):
    model = network(make_model(tmp_path / "model.gguf", type="q4_k", types=TYPES, codec=False, codebooks=CODEBOOKS))
    model.rehearse(4)
    rehearsed, pick = pipelines(recorder), model.picker(Sampling())
    assert any("step_attention" in name for name in rehearsed) and all(metal._verdicts.values())
    for size in (4, 3, 2, 1):
        shared = model.new_cache()
        model.prefill(prompt()[:, :5], shared)
        rows = [shared.extend() if row % 2 else model.new_cache() for row in range(size)]
        uniforms, states = mx.zeros((size, CODEBOOKS + 1)), []
        for length, row in enumerate(rows, 4):
            outputs = model.prefill(prompt()[:, :length], row)
            states.append(model.first(outputs, pick, uniforms[:1], [True]))
        mx.eval([state.arrays for state in states])
        recorder.sources.clear()  # the prompt's are not told beforehand
        state = State.join(states)
        for _ in range(2):
            state = model.next(state, BatchCache(rows), pick, uniforms, [True] * size)
        mx.eval(state.arrays)
        met = pipelines(recorder)
        assert met and met <= rehearsed, met - rehearsed


def test_a_rehearsal_waits_once_and_a_batch_needs_no_more_than_its_sizes(recorder, tmp_path):
    model = network(make_model(tmp_path / "model.gguf", type="q8_0", codec=False, codebooks=CODEBOOKS))
    with mock.patch.object(mx, "eval", side_effect=mx.eval) as waited:
        model.rehearse(1)
    checks = [call for call in waited.call_args_list if isinstance(call.args[0], list)]  # the others make constants
    assert len(checks) == 1 and len(checks[0].args[0]) == len(metal._verdicts)
    one = pipelines(recorder)
    with mock.patch.object(metal, "_agreement", side_effect=AssertionError("tried again")):
        model.rehearse(1)
    recorder.sources.clear()
    metal._verdicts.clear()
    model.rehearse(3)
    assert one < pipelines(recorder)


def test_the_codec_is_tried_in_one_evaluation_and_builds_nothing_later(recorder, tmp_path, monkeypatch):
    for room in ("s2mlx.layers.causal_conv", "s2mlx.codec.units"):
        monkeypatch.setattr(f"{room}.kernels_win", lambda: True)
    with open_checkpoint(make_model(tmp_path / "model.gguf", type="q8_0")) as checkpoint:
        codec = Codec(Scope(checkpoint.tensors).within("c"), checkpoint.config.codec)
    with mock.patch.object(mx, "eval", side_effect=mx.eval) as waited:
        codec.rehearse((1, 4))
    checks = [call for call in waited.call_args_list if isinstance(call.args[0], list)]
    assert len(checks) == 1 and len(checks[0].args[0]) == len(metal._verdicts) and all(metal._verdicts.values())
    rehearsed = pipelines(recorder)
    assert any("conv" in name for name in rehearsed)
    with mock.patch.object(metal, "_agreement", side_effect=AssertionError("tried again")):
        for frames in (1, 4):
            stream = codec.stream()
            for _ in range(3):
                codes = np.zeros((codec.config.num_codebooks, frames), np.int32)
                mx.eval(codec._decode(mx.array(codes), stream._state))
    assert pipelines(recorder) <= rehearsed


def test_nothing_to_rehearse_without_metal(tmp_path):
    model = network(make_model(tmp_path / "model.gguf", type="q8_0", codec=False, codebooks=CODEBOOKS))
    with mock.patch.object(model.slow, "embed", side_effect=AssertionError("nothing is built")):
        model.rehearse(4)
    assert np.isfinite(np.array(model.prefill(prompt()[:, :3], model.new_cache())[0])).all()
