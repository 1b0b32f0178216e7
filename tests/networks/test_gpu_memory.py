"""Where our kernels run, a model takes the bytes of its file and little more: nothing is opened or kept twice."""

import dataclasses
from unittest import mock

import mlx.core as mx
import pytest

from s2mlx.bench import pretend, synthetic
from s2mlx.codec import Codec
from s2mlx.layers.cache import KVCache
from s2mlx.layers.scope import Scope
from s2mlx.networks.dual_ar import DualAR
from s2mlx.weights import open_checkpoint

# Of a file of 24 MB: vectors and biases in float32, rotary tables, buffers that MLX uses again for something smaller:
# 1.09 to 1.13. Convolutions in float32 would make it 1.7.
MOST = 1.25


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    shape = synthetic.tiny("q8_0")
    codec = shape.config.codec
    rvq = dataclasses.replace(codec.rvq, dim=256, ffn_dim=512)
    codec = dataclasses.replace(codec, decoder_dim=256, encoder_dim=16, latent_dim=256, rvq=rvq)
    shape = dataclasses.replace(shape, config=dataclasses.replace(shape.config, codec=codec))
    return synthetic.write_model(tmp_path_factory.mktemp("memory"), shape)


@pytest.mark.parametrize("win", [True, False], ids=["our convolutions", "MLX's convolutions"])
def test_a_model_takes_the_memory_of_its_file(model_file, win):
    wins = lambda: win
    mx.clear_cache()
    before = mx.get_active_memory()
    with (
        pretend.gpu(kernels=True),
        mock.patch("s2mlx.layers.causal_conv.kernels_win", wins),
        mock.patch("s2mlx.codec.units.kernels_win", wins),
        open_checkpoint(model_file) as checkpoint,
    ):
        mx.reset_peak_memory()
        scope, config = Scope(checkpoint.tensors), checkpoint.config
        dual_ar, codec = DualAR(scope, config, end_id=256), Codec(scope.within("c"), config.codec)
        _ = codec._encoding  # otherwise built with the first clip
        taken = (mx.get_peak_memory() - before) / checkpoint.packed_bytes
    assert dual_ar.slow.head and 0.9 < taken < MOST


def test_a_long_pass_keeps_the_open_matrices_of_one_block_only(model_file):
    """MLX holds what a command buffer uses until that is done, and buffers are large: each block of a prompt is waited
    for. A step is not."""
    with pretend.gpu(kernels=True), open_checkpoint(model_file) as checkpoint:
        slow = DualAR(Scope(checkpoint.tensors), checkpoint.config, end_id=256).slow
        for rows, waits in (40, checkpoint.config.transformers[0].layers), (1, 0):
            codes = mx.zeros((rows, checkpoint.config.num_codebooks), mx.int32)
            x = slow.embed(mx.zeros(rows, mx.int32), codes)
            with mock.patch("s2mlx.layers.transformer.mx.eval") as waited:
                slow.forward(x, 1, KVCache(len(slow.transformer.blocks)))
            assert sum(getattr(call.args[0], "shape", None) == x.shape for call in waited.call_args_list) == waits
