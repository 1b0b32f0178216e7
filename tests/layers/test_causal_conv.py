"""Convolutions on the CPU: laid out of the file by all cores, summed tap by tap, the same whoever computes them."""

import mlx.core as mx
import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType as T

from s2mlx.layers import matmul
from s2mlx.layers.causal_conv import CausalConv, CausalTransposedConv, StreamState
from s2mlx.layers.scope import Scope
from s2mlx.weights.mapped import MappedFile, Region
from s2mlx.weights.tensor import Tensor
from tests.weights.gguf_maker import encode

IN, OUT = 300, 340


@pytest.fixture(params=[T.F16, T.F32, T.BF16], ids=lambda kind: kind.name)
def scope(request, tmp_path):
    def scope(*shape):
        rng = np.random.default_rng(2)
        data = encode(rng.standard_normal(shape, np.float32), request.param, rng)
        (tmp_path / "w").write_bytes(bytes(32) + data)
        region = Region(MappedFile(tmp_path / "w"), 32, 32 + len(data))
        return Scope({"weight": Tensor("weight", shape, request.param, region)})

    return scope


def answers(monkeypatch, layer, x):
    monkeypatch.setattr(matmul, "WORTH_SHARING", 1)
    for threads in ("1", "2", "3", "off"):
        monkeypatch.setenv("S2MLX_HOST_BLAS", threads)
        yield np.array(layer(x, StreamState()))


@pytest.mark.parametrize("rows", [1, 6, 600])
@pytest.mark.parametrize("kernel, stride, dilation", [(7, 1, 3), (1, 1, 1), (4, 2, 1)])
def test_a_convolution(scope, monkeypatch, rows, kernel, stride, dilation):
    given = scope(OUT, IN, kernel)
    rows *= stride
    layer, w = CausalConv(given, stride, dilation), np.array(given.array("weight"))
    x = np.random.default_rng(3).standard_normal((rows, IN), np.float32)
    past = np.zeros((layer.reach - stride, IN), np.float32)
    padded = np.concatenate([past, x])
    want = sum(
        padded[k * dilation :][: (rows - 1) // stride * stride + 1 : stride] @ w[:, :, k].T for k in range(kernel)
    )
    first, *others = answers(monkeypatch, layer, mx.array(x))
    assert first.shape == want.shape and np.abs(first - want).max() < 1e-3
    assert all(np.array_equal(first, other) for other in others[:-1])
    assert np.abs(others[-1] - want).max() < 1e-3


@pytest.mark.parametrize("rows", [1, 300])
@pytest.mark.parametrize("kernel, stride", [(8, 4), (2, 2), (5, 2)])
def test_a_transposed_convolution(scope, monkeypatch, rows, kernel, stride):
    given = scope(IN, OUT, kernel)
    layer, w = CausalTransposedConv(given, stride), np.array(given.array("weight"))
    x = np.random.default_rng(3).standard_normal((rows, IN), np.float32)
    want = np.zeros((rows * stride + kernel, OUT), np.float32)
    for t in range(rows):
        want[t * stride : t * stride + kernel] += np.einsum("i,iok->ko", x[t], w)
    first, *others = answers(monkeypatch, layer, mx.array(x))
    assert np.abs(first - want[: rows * stride]).max() < 1e-3
    assert all(np.array_equal(first, other) for other in others[:-1])
    assert np.abs(others[-1] - first).max() < 1e-3
