"""When a kernel is used: where Metal runs, unless switched off, and only after it has agreed with its reference."""

import warnings
from unittest import mock

import mlx.core as mx
import pytest

from s2mlx import device
from s2mlx.errors import UsageError
from s2mlx.kernels import blocks, dequantize, metal


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


def test_every_kernel_file_is_loaded_from_the_package():
    for file in ("dequantize", "qmv", "fast_attention", "step_attention", "sampler", "conv", "convnext"):
        for kernel in metal.load(file + ".metal").values():
            assert kernel.inputs and kernel.outputs and '#include "' not in kernel.header


def test_integers_must_be_equal(on_metal, monkeypatch):
    """A token next to the right one is not nearly right."""
    from s2mlx.kernels import sampler

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
