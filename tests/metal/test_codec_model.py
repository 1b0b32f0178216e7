"""A frame decoded by the codec as it is built where its kernels win, on a tiny model: against the plain codec."""

from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest

from s2mlx.codec import Codec
from s2mlx.layers.scope import Scope
from s2mlx.weights import open_checkpoint
from tests.synthetic import make_model

from . import harness, msl


@contextmanager
def winning():
    """Layers that are built now take their kernels."""
    wins = lambda: True
    with (
        mock.patch("s2mlx.layers.causal_conv.kernels_win", wins),
        mock.patch("s2mlx.codec.units.kernels_win", wins),
        mock.patch("s2mlx.codec.units.on_gpu", wins),
        mock.patch("s2mlx.layers.causal_conv.on_gpu", wins),
    ):
        yield


@pytest.fixture(scope="module")
def codecs(tmp_path_factory):
    """(plain, fused)"""
    if msl.compiler() is None:
        pytest.skip("no C++ compiler with address and undefined-behaviour sanitizers")
    with open_checkpoint(make_model(tmp_path_factory.mktemp("codec") / "codec.gguf", ar=False)) as opened:
        scope = Scope(opened.tensors).within("c")
        plain = Codec(scope, opened.config.codec)
        with winning():
            yield plain, Codec(scope, opened.config.codec)


def test_frame_is_the_plain_codec_s(codecs):
    plain, fused = codecs
    config = plain.config
    codes = np.random.default_rng(0).integers(0, 64, (config.num_codebooks, 1)).astype(np.int32)
    launches = []

    def launch(kernel, **request):
        launches.append(kernel)
        return msl.launch(kernel, **request, orders=1)

    recorder = msl.Recorder()
    with harness.kernels(recorder.launch):
        fused.decode(codes)
    recorder.compile()
    with harness.kernels(launch):
        got = fused.decode(codes)
    assert np.abs(got - plain.decode(codes)).max() < 1e-5
    blocks, upsampled = len(plain.decoder.blocks), len(config.downsample_factor)
    assert len(launches) == 2 + 7 * blocks + 4 * upsampled  # first, last; 1 + 3 x 2 a block; 1 + 3 an upsampling
