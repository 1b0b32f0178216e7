"""Convolution kernels: odd sizes, dilations, long and short pieces, transposed, ConvNeXt."""

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.kernels import conv as c
from s2mlx.kernels import convnext as n

from .harness import Case, kernels, normal


def conv(
    length,
    channels,
    out,
    taps,
    dilation=1,
    snake=False,
    activation=None,
    gamma=False,
    residual=False,
    weight=mx.float32,
):
    def arguments():
        past = normal((taps - 1) * dilation, channels, seed=1) if taps > 1 else None
        w = (normal(taps, channels, out, seed=2) * 0.2).astype(weight)
        return (normal(length, channels), past, w, normal(out)), dict(
            dilation=dilation,
            alpha=normal(channels, seed=3) * (mx.arange(channels) % 3 > 0) if snake else None,  # some are zero
            activation=activation,
            gamma=normal(out, seed=4) if gamma else None,
            residual=normal(length, out, seed=5) if residual else None,
        )

    id = f"conv-{length}x{channels}-{out}-k{taps}d{dilation}-{snake}-{activation}-{gamma}-{residual}-{weight}"
    return Case(id, lambda a, k: c.conv(*a, **k), arguments, tolerance=5e-6)


def depthwise(length, channels, taps=7, size=1.0):
    """With a small `size` the norm's eps counts."""

    def arguments():
        return (
            normal(length, channels) * size,
            normal(taps - 1, channels, seed=1) * size,
            normal(taps, channels, seed=2),
            normal(channels, seed=3) * size,
            *(normal(channels, seed=s) for s in (4, 5)),
            1e-6,
        )

    return Case(f"depthwise-{length}x{channels}-k{taps}-{size}", n.depthwise_norm, arguments, tolerance=5e-6)


def convnext(length, channels, hidden):
    """The block's three launches together."""

    def arguments():
        vectors = [normal(channels, seed=s) for s in range(1, 6)]
        weights = n.Weights(
            normal(7, channels),
            *vectors[:3],
            normal(channels, hidden) * 0.1,
            normal(hidden),
            normal(hidden, channels) * 0.1,
            *vectors[3:],
        )
        return normal(length, channels), normal(6, channels, seed=7), weights

    return Case(f"convnext-{length}x{channels}x{hidden}", n.convnext, arguments, tolerance=5e-6)


CASES = [
    conv(37, 40, 24, 7, 3, snake=True),
    conv(5, 33, 70, 7, 9, snake=True, weight=mx.float16),
    conv(66, 24, 24, 1, snake=True, residual=True),
    conv(3, 64, 100, 1, activation="gelu", weight=mx.float16),
    conv(66, 16, 48, 3, 9, snake=True),
    conv(33, 24, 64, 1, weight=mx.float16),
    conv(11, 50, 33, 1, gamma=True, residual=True),
    conv(40, 16, 1, 7, snake=True, activation="tanh"),
    conv(9, 1, 16, 7),
    conv(8, 32, 64, 2, snake=True, weight=mx.float16),
    conv(1, 20, 12, 7),
    depthwise(1, 64),
    depthwise(4, 130),
    depthwise(9, 32),
    depthwise(5, 40, taps=3),
    depthwise(5, 40, taps=3, size=2e-4),
    convnext(3, 64, 100),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_kernel_equals_reference(case, compiled):
    case.check()


@pytest.mark.parametrize("kernel, stride", [(8, 4), (2, 2), (16, 8), (5, 2)])
def test_transposed_convolution(kernel, stride):
    """Against the definition: each input adds its kernel to the output, cut by kernel - stride on the right."""
    x, weight, bias = normal(6, 12), normal(kernel, 12, 10), normal(10)
    wanted = np.zeros(((6 - 1) * stride + kernel, 10))
    for t in range(6):
        wanted[t * stride : t * stride + kernel] += np.einsum("i,kio->ko", np.array(x[t]), np.array(weight))
    plain, tiled = c.transposed_weights(weight, bias, stride)
    y, _ = c.conv_transpose(x, c.start(plain), plain, tiled, stride)
    assert np.allclose(np.array(y), wanted[: 6 * stride] + np.array(bias), atol=1e-4)


@pytest.mark.parametrize("launched", [False, True], ids=["reference", "kernel"])
def test_pieces_equal_the_whole(launched, request):
    """Streaming: pieces shorter and longer than the kernel's reach give the samples of one pass."""
    if launched:
        request.getfixturevalue("compiled")
    (x, _, weight, bias), options = CASES[0].arguments()
    start = c.start(weight, 3)
    whole, _ = c.conv_reference(x, start, weight, bias, 3, options["alpha"])
    pieces, past = [], start
    with kernels() if launched else kernels(None):
        for begin, end in [(0, 9), (9, 37)]:
            y, past = c.conv(x[begin:end], past, weight, bias, dilation=3, alpha=options["alpha"])
            pieces.append(y)
    assert mx.allclose(mx.concatenate(pieces), whole, atol=1e-4)
    assert mx.array_equal(past, x[-18:])
