"""A whole frame decoded through the codec's kernels, on a tiny model: against the plain codec.

The networks here know nothing of kernels yet, so this file says which of their pieces each launch replaces.
"""

from contextlib import ExitStack
from unittest import mock

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.codec import Codec
from s2mlx.codec.blocks import ConvNeXt, ResidualUnit
from s2mlx.codec.decoder import Decoder, DecoderBlock
from s2mlx.kernels import conv as c
from s2mlx.kernels import convnext as n
from s2mlx.layers.conv import CausalConv, CausalTransposedConv
from s2mlx.weights import open_checkpoint
from s2mlx.layers.scope import Scope
from tests.synthetic import make_model

from . import harness, msl


def causal(layer, x, state, **around):
    """`CausalConv` with what stands around it; the state holds rows as they were before Snake."""
    past = state.tails.get(layer.name, c.start(layer.weight, layer.dilation))
    y, past = c.conv(x, past, layer.weight, layer.bias, dilation=layer.dilation, **around)
    if past is not None:
        state.tails[layer.name] = past
    return y


def transposed(layer, x, state, alpha=None):
    """`CausalTransposedConv`, whose weights already are those of the plain convolution."""
    weight = layer.weight.reshape(layer.blocks, -1, layer.weight.shape[1])
    past = state.tails.get(layer.name, c.start(weight))
    y, past = c.conv_transpose(x, past, weight, mx.tile(layer.bias, layer.stride), layer.stride, alpha=alpha)
    if past is not None:
        state.tails[layer.name] = past
    return y


def residual_unit(unit, x, state):
    y = causal(unit.conv1, x, state, alpha=unit.snake1.alpha)
    return causal(unit.conv2, y, state, alpha=unit.snake2.alpha, residual=x)


def decoder_block(block, x, state):
    x = transposed(block.conv, x, state, alpha=block.snake.alpha)
    for unit in block.units:
        x = unit(x, state)
    return x


def decoder(network, z, state):
    z = network.first(z, state)
    for block in network.blocks:
        z = block(z, state)
    return causal(network.last, z, state, alpha=network.snake.alpha, activation="tanh")


def convnext(block, x, state):
    d = block.depthwise
    weights = n.Weights(d.weight, d.bias, block.norm_weight, block.norm_bias, block.up, block.up_bias, block.down,
                        block.down_bias, block.gamma)
    past = state.tails.get(d.name, mx.zeros((d.weight.shape[0] - 1, d.weight.shape[1])))
    y, state.tails[d.name] = n.convnext(x, past, weights)
    return y


REPLACED = [(CausalConv, causal), (CausalTransposedConv, transposed), (ResidualUnit, residual_unit),
            (DecoderBlock, decoder_block), (Decoder, decoder), (ConvNeXt, convnext)]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    if msl.compiler() is None:
        pytest.skip("no C++ compiler with address and undefined-behaviour sanitizers")
    with open_checkpoint(make_model(tmp_path_factory.mktemp("codec") / "codec.gguf", ar=False)) as opened:
        yield opened


def through(launch, codec, codes, chunk=None):
    """Decoded by the launches above; None: by their references."""
    with ExitStack() as stack:
        stack.enter_context(harness.kernels(launch))
        for network, call in REPLACED:
            stack.enter_context(mock.patch.object(network, "__call__", call))
        return codec.decode(codes, chunk)


def test_frame_is_the_plain_codec_s(checkpoint):
    codec = Codec(Scope(checkpoint.tensors).within("c"), checkpoint.config.codec)
    codes = np.random.default_rng(0).integers(0, 64, (checkpoint.config.codec.num_codebooks, 2)).astype(np.int32)
    plain = codec.decode(codes)
    assert np.abs(through(None, codec, codes, chunk=1) - plain).max() < 1e-5

    launches = []

    def launch(kernel, **request):
        launches.append(kernel)
        return msl.launch(kernel, **request, orders=1)

    recorder = msl.Recorder()
    through(recorder.launch, codec, codes[:, :1])
    recorder.compile()
    frame = checkpoint.config.codec.frame_samples
    assert np.abs(through(launch, codec, codes[:, :1]) - plain[:frame]).max() < 1e-5
    blocks, upsampled = len(codec.decoder.blocks), len(checkpoint.config.codec.downsample_factor)
    assert len(launches) == 2 + 7 * blocks + 4 * upsampled     # first, last; 1 + 3 x 2 a block; 1 + 3 an upsampling
