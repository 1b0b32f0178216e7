"""When a kernel is used: where Metal runs, unless switched off, and only after it has agreed with its reference."""

import itertools
import warnings
from unittest import mock

import mlx.core as mx
import pytest

from s2mlx import device
from s2mlx.errors import UsageError
from s2mlx.kernels import attention, blocks, dequantize, metal

from . import msl, test_attention, test_qmv


@pytest.fixture
def on_metal():
    """As on a Mac whose kernels nobody has tried yet."""
    with mock.patch("s2mlx.device.kernels_available", lambda: True), mock.patch.dict(metal._verdicts, clear=True):
        yield


def test_no_metal_no_kernel():
    assert not mx.metal.is_available() and not device.kernels_available()


def test_switched_off(monkeypatch):
    monkeypatch.setattr(mx.metal, "is_available", lambda: True)
    monkeypatch.setattr(mx, "default_device", lambda: mock.Mock(type=mx.DeviceType.gpu))
    assert device.kernels_available()
    monkeypatch.setenv("S2MLX_KERNELS", "off")
    assert not device.kernels_available()
    monkeypatch.setenv("S2MLX_KERNELS", "zzz")
    with pytest.raises(UsageError, match="on or off, not 'zzz'"):
        device.kernels_available()


@pytest.mark.parametrize(
    "launch",
    [
        mock.Mock(side_effect=RuntimeError("program_source:1:2: error: no matching function")),
        mock.Mock(side_effect=ValueError("Thread group size is greater than the maximum")),
        lambda *a, output_shapes, output_dtypes, **k: [mx.full(output_shapes[0], 0.5, output_dtypes[0])],
        lambda *a, output_shapes, output_dtypes, **k: [mx.full(output_shapes[0], mx.nan, output_dtypes[0])],
    ],
    ids=["does not build", "does not fit", "wrong", "nan"],
)
def test_bad_kernel_falls_back_with_one_warning(launch, on_metal, monkeypatch):
    monkeypatch.setattr(metal, "launch", launch)
    w = blocks.sample_blocks(12, 4, 256, seed=5)
    with pytest.warns(RuntimeWarning, match="dequantize is off") as caught:
        for _ in range(3):
            assert mx.array_equal(dequantize.dequantize(w, 12), blocks.dequantize_reference(w, 12))
    assert len(caught) == 1


def test_right_kernel_is_used(on_metal, monkeypatch):
    launched = []

    def launch(kernel, *, inputs, output_dtypes, **request):
        launched.append(inputs[0].shape)
        return [blocks.dequantize_reference(inputs[0], 12, output_dtypes[0])]

    monkeypatch.setattr(metal, "launch", launch)
    w = blocks.sample_blocks(12, 7, 256)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            dequantize.dequantize(w, 12)
    assert launched == [(3, 288), (7, 144), (7, 144)]  # the self-check, once, then the calls


def test_a_step_s_attention_is_tried_with_fewer_threads_first(on_metal, monkeypatch):
    """A chip whose registers do not suffice for 1024 threads refuses them; only when it refuses all is it said."""
    limit, tried = {}, []

    def launch(kernel, *, threadgroup, output_shapes, output_dtypes, **request):
        tried.append(threadgroup[0])
        if threadgroup[0] > limit["threads"]:
            raise ValueError("Thread group size is greater than the maximum")
        return [mx.full(shape, 7, dtype) for shape, dtype in zip(output_shapes, output_dtypes)]

    monkeypatch.setattr(metal, "launch", launch)
    monkeypatch.setattr(metal, "_agree", lambda a, b: mx.array(True))
    qkv, keys, values, *rest = test_attention.step(128, 4, 2, [33], 64, True).arguments()
    arguments = qkv, *(mx.where(mx.isnan(a), 0, a) for a in (keys, values)), *rest
    step = lambda: attention.step_attention(*arguments)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for threads, wanted in (1024, [1024, 1024]), (600, [1024, 512, 512]), (256, [1024, 512, 256, 256]):
            limit["threads"] = threads
            metal._verdicts.clear()
            tried.clear()
            assert float(step().max()) == 7 and tried == wanted
            step()
            assert tried == [*wanted, wanted[-1]]
    limit["threads"] = 128
    metal._verdicts.clear()
    with pytest.warns(RuntimeWarning, match="step_attention is off") as caught:
        assert mx.allclose(step(), attention.step_attention_reference(*arguments)[0])
    assert len(caught) == 1


@pytest.mark.parametrize("name", ["qmv", "qmv_add", "qmv_norm", "qmv_norm_swiglu"])
def test_each_type_length_and_number_of_rows_is_tried_by_itself(name, on_metal, monkeypatch):
    """Two forms that share a verdict would be one pipeline."""
    monkeypatch.setattr(metal, "_agree", lambda a, b: mx.array(True))
    recorder, pipelines = msl.Recorder(), {}
    for format, m, dtype, k in itertools.product((8, 12), (1, 2, 4, 8), (mx.float32, mx.float16), (512, 1024)):
        recorder.sources.clear()
        monkeypatch.setattr(metal, "launch", recorder.launch)
        metal._verdicts.clear()
        case = test_qmv.case(name, format, m, dtype, 11, k)
        case.call(*case.arguments())
        ((verdict, right),) = metal._verdicts.items()
        (pipeline,) = recorder.sources  # the self-check built the very one
        assert right and pipelines.setdefault(verdict, pipeline) == pipeline
    assert len(set(pipelines.values())) == len(pipelines) == 32 - 4  # eight vectors are staged 512 columns at a time


def test_a_tolerance_that_bites(on_metal, monkeypatch):
    """A kernel that is 2 % off is wrong, one that is 0.5 % off is not."""
    w = blocks.sample_blocks(8, 4, 64)
    exact = blocks.dequantize_reference
    for factor, right in (1.02, False), (0.98, False), (1.005, True):
        metal._verdicts.clear()
        trial = lambda w, format: exact(w, format) * factor
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if not right else "error")
            assert metal.trusted(("two percent",), trial, exact, lambda: (w, 8)) == right


def test_a_rehearsal_tries_all_in_one_evaluation(on_metal, monkeypatch):
    tried, evaluations, real = [], [], mx.eval

    def kernel(name, right=True, builds=True):
        def launch():
            tried.append(name)
            if not builds:
                raise RuntimeError("program_source:1:2: error")
            return mx.array(1.0 if right else 2.0)

        return launch

    def ask(name, **how):
        return metal.trusted((name,), kernel(name, **how), lambda: mx.array(1.0), tuple)

    monkeypatch.setattr(mx, "eval", lambda *a: evaluations.append(a) or real(*a))
    with metal.rehearsal():
        assert ask("a") and ask("b", right=False) and ask("a") and not tried
    assert tried == ["a", "b"] and len(evaluations) == 1
    with pytest.warns(RuntimeWarning, match="b is off"):
        assert ask("a") and not ask("b", right=False)
    assert tried == ["a", "b", "b"]
    with metal.rehearsal():  # one that does not build leaves the others to their first use
        assert ask("c", builds=False) and ask("d")
    with pytest.warns(RuntimeWarning, match="c is off"):
        assert ask("d") and not ask("c", builds=False)


def test_every_kernel_file_is_loaded_from_the_package():
    for file in ("dequantize", "qmv", "fast_attention", "step_attention", "sampler", "conv", "convnext"):
        for kernel in metal.load(file + ".metal").values():
            assert kernel.inputs and kernel.outputs and '#include "' not in kernel.header


def test_integers_must_be_equal(on_metal, monkeypatch):
    """A token next to the right one is not nearly right."""
    from s2mlx.kernels import sampler

    with pytest.warns(RuntimeWarning, match="tokens is off"):
        assert not metal.trusted(("tokens",), lambda: mx.array([200, 301]), lambda: mx.array([200, 300]), tuple)

    def launch(kernel, *, inputs, output_shapes, output_dtypes, **request):
        logits, _, uniforms, window, may_end = inputs
        tokens, following = sampler.sampler_reference(logits, uniforms, window, may_end, settings, True)
        return [tokens + 1, following]

    settings = sampler.SamplerSettings(0.8, 0.8, 30)
    monkeypatch.setattr(metal, "launch", launch)
    arguments = mx.zeros((1, 50)), mx.array([[0.5, 0.5]]), mx.full((1, 10), -1, mx.int32), mx.ones((1,), mx.int32)
    with pytest.warns(RuntimeWarning, match="sampler is off"):
        tokens, _ = sampler.draw_semantic(*arguments, settings)
    assert tokens.item() == sampler.sampler_reference(*arguments, settings, True)[0].item()
