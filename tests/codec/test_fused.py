"""The codec as it runs on a GPU, with our convolution kernels or with MLX's: the same samples as the plain one. The
kernels are stood in for by their references here; tests/metal proves them."""

from unittest import mock

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.codec import Codec
from s2mlx.layers import conv_trial
from s2mlx.layers.scope import Scope
from s2mlx.weights import open_checkpoint
from tests import goldens


@pytest.fixture(scope="module", params=[True, False], ids=["our kernels", "MLX's convolution"])
def on_gpu(request):
    wins = lambda: request.param
    with (
        mock.patch("s2mlx.layers.causal_conv.kernels_win", wins),
        mock.patch("s2mlx.codec.units.kernels_win", wins),
        mock.patch("s2mlx.layers.causal_conv.on_gpu", lambda: True),
        mock.patch("s2mlx.codec.units.on_gpu", lambda: True),
        open_checkpoint(goldens.path("tiny-q4_k_m.gguf")) as checkpoint,
    ):
        codec = Codec(Scope(checkpoint.tensors).within("c"), checkpoint.config.codec)
        _ = codec._encoding  # built while the patch holds
        assert codec.decoder.first.fused == (codec.upsampler.stages[0][1].fused is not None) == request.param
        return codec


def test_decodes_the_same_in_pieces(on_gpu):
    codes = goldens.inputs()["codes_50"]
    want = goldens.model("q4_k_m", None).codec.decode(codes)
    stream = on_gpu.stream()
    got = np.concatenate([stream.decode(codes[:, i : i + 7]) for i in range(0, 50, 7)])
    assert np.abs(got - want).max() < 1e-5


def test_encodes_the_same(on_gpu):
    wave = goldens.inputs()["wave_2s"]
    np.testing.assert_array_equal(on_gpu.encode(wave), goldens.model("q4_k_m", None).codec.encode(wave))


def test_large_weights_stay_as_the_file_has_them(on_gpu):
    first, (upsampling, convnext) = on_gpu.decoder.first, on_gpu.upsampler.stages[0]
    for weight in (first.weight, on_gpu.decoder.blocks[0].conv.weight, upsampling.weight, convnext.up, convnext.down):
        assert weight.dtype == mx.float16


def test_no_trial_without_kernels():
    conv_trial.kernels_win.cache_clear()
    with mock.patch("s2mlx.device.kernels_available", lambda: False):
        assert conv_trial.kernels_win() is False
    conv_trial.kernels_win.cache_clear()


def test_the_trial_takes_the_faster_way():
    for seconds, wins in (([1.0, 2.0], True), ([2.0, 1.0], False)):
        measured = iter(seconds)
        conv_trial.kernels_win.cache_clear()
        with (
            mock.patch("s2mlx.device.kernels_available", lambda: True),
            mock.patch.object(conv_trial, "_best", lambda work: next(measured)),
        ):
            assert conv_trial.kernels_win() is wins
    conv_trial.kernels_win.cache_clear()
