"""Whole frames through the Metal kernels: the engine as on a GPU, its kernels on the CPU, against the plain engine.

What single kernels cannot show: that norm, product, attention with its caches, SwiGLU and sampler are put together
right.
"""

from contextlib import ExitStack, contextmanager
from unittest import mock

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.kernels import metal
from s2mlx.layers.cache import BatchCache
from s2mlx.layers.scope import Scope
from s2mlx.networks.dual_ar import DualAR
from s2mlx.networks.generate import Generation, generate
from s2mlx.options import Sampling
from s2mlx.weights import open_checkpoint
from tests.synthetic import IM_END, SEMANTIC_BEGIN, make_model

from . import harness, msl

FRAMES, CODEBOOKS = 4, 4
# every block format has its place
TYPES = {
    "wo": "q6_k",
    "w2": "q3_k",
    "feed_forward.w1": "q5_k",
    "feed_forward.w3": "q5_k",
    "embeddings": "q8_0",
    "fast_output": "q2_k",
}


@contextmanager
def gpu(launch):
    """The engine takes its GPU ways, and its kernels go to `launch`. The past is merged every other step."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch("s2mlx.layers.cache._TAIL", 2))
        stack.enter_context(harness.kernels(launch))
        stack.enter_context(mock.patch("s2mlx.device.kernels_available", lambda: True))
        stack.enter_context(mock.patch.object(mx, "default_device", lambda: mx.Device(mx.gpu)))
        yield


def once(kernel, **request):
    """One order of threads: races are what the tests of single kernels look for."""
    return msl.launch(kernel, **request, orders=1)


def network(path):
    with open_checkpoint(path) as checkpoint:
        return DualAR(Scope(checkpoint.tensors), checkpoint.config, IM_END)


def prompt():
    matrix = np.random.default_rng(0).integers(0, 256, (1 + CODEBOOKS, 35)).astype(np.int32)
    matrix[0, :4] = [7, 300, 999, 5]  # text, then reference frames
    matrix[0, 4:] = SEMANTIC_BEGIN + matrix[1, 4:]
    matrix[1:, :4] = 0
    return matrix


def speak(path, frames=FRAMES):
    """Codes of some frames."""
    request = Generation(prompt(), seed=5, max_frames=frames, min_frames=frames)
    frames = generate(network(path), request, Sampling(temperature=0.9, top_p=0.95, top_k=20), ahead=False)
    return [f.codes.tolist() for f in frames if f.codes is not None]


def step_two(path):
    """One step of two sequences of unlike length: outputs of the Slow-AR, and logits."""
    model = network(path)
    rows = [model.new_cache() for _ in range(2)]
    for row, length in zip(rows, (9, 4)):
        model.prefill(prompt()[:, :length], row)
    codes = mx.array(np.arange(2 * CODEBOOKS).reshape(2, -1))
    hidden, normed = model.slow.step(mx.array([3, 200]), codes, BatchCache(rows))
    return [np.array(a) for a in (hidden, normed, model.slow.logits(normed))]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    if msl.compiler() is None:
        pytest.skip("no C++ compiler with address and undefined-behaviour sanitizers")
    path = make_model(
        tmp_path_factory.mktemp("frame") / "model.gguf", type="q4_k", types=TYPES, codec=False, codebooks=CODEBOOKS
    )
    recorder = msl.Recorder()
    with gpu(recorder.launch):
        speak(path)
        step_two(path)
    recorder.compile()
    return path


def test_frames_are_the_plain_engine_s(model_file):
    launched = set()

    def launch(kernel, **request):
        launched.add(kernel)
        return once(kernel, **request)

    wanted = speak(model_file)
    with gpu(launch):
        assert speak(model_file) == wanted
    assert len(wanted) == FRAMES and len({tuple(f) for f in wanted}) > 1
    sound = {
        k.built: k.name
        for file in ("qmv", "fast_attention", "step_attention", "sampler", "dequantize")
        for k in metal.load(file + ".metal").values()
    }
    assert {sound[k] for k in launched} == set(sound.values())


def test_batched_step_is_the_plain_engine_s(model_file):
    wanted = step_two(model_file)
    with gpu(once):
        got = step_two(model_file)
    for a, b in zip(got, wanted):
        assert np.abs(a - b).max() < 2e-5 * np.abs(b).max()


def test_a_fault_in_one_kernel_changes_the_frames(model_file):
    """The test above can fail: Fast-AR attention without its past."""
    load = metal.load

    def mutated(file):
        body = lambda k: k.body.replace("int p = 0; p <= past + i", "int p = past; p <= past + i")
        return {name: metal.Kernel(k.name, k.inputs, k.outputs, k.header, body(k)) for name, k in load(file).items()}

    wanted = speak(model_file, frames=1)
    with gpu(once), mock.patch.object(metal, "load", mutated):
        assert speak(model_file, frames=1) != wanted
