"""Machine code for blocks: exact floats, sums in one order whatever is asked together, and where there is none."""

import sys

import mlx.core as mx
import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType

from s2mlx.kernels.blocks import sample_blocks
from s2mlx.weights import compiled
from s2mlx.weights.block_formats import SUPPORTED, columns, decode

llvmlite = pytest.importorskip("llvmlite", reason='products in machine code need llvmlite: pip install "s2mlx[cpu]"')
from s2mlx.weights import block_code  # noqa: E402 - which needs it

KINDS = sorted(block_code.KINDS)
ROWS, WIDTH = 37, 768


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request):
    return request.param


@pytest.fixture
def data(kind):
    return np.array(sample_blocks(int(kind), ROWS, WIDTH, seed=5))


def floats(data, kind):
    return np.array(decode(mx.array(data), kind))


def product(data, kind, x):
    y = np.full((len(x), len(data)), np.nan, np.float32)
    compiled.product(data, kind, np.ascontiguousarray(x), y)
    return y


def test_rows_are_opened_exactly(kind, data):
    out = np.full((ROWS, WIDTH), np.nan, np.float32)
    compiled.open_rows(data, kind, out)
    np.testing.assert_array_equal(out, floats(data, kind))


@pytest.mark.parametrize("vectors", range(1, compiled.MOST_VECTORS + 1))
def test_products(kind, data, vectors):
    x = np.random.default_rng(vectors).standard_normal((vectors, WIDTH), np.float32)
    exact = floats(data, kind).astype(np.float64)
    most = np.abs(exact) @ np.abs(x.T)  # what rounding goes by
    assert (np.abs(product(data, kind, x) - x @ exact.T) < 4e-7 * most.T).all()


def test_a_sum_is_the_same_whatever_is_asked_beside_it(kind, data):
    """So neither pieces nor cores change a number."""
    x = np.random.default_rng(1).standard_normal((4, WIDTH), np.float32)
    whole = product(data, kind, x)
    for rows in (slice(0, 1), slice(3, 20), slice(36, 37)):
        np.testing.assert_array_equal(product(data[rows], kind, x), whole[:, rows])
    for vectors in (1, 2, 3):
        np.testing.assert_array_equal(product(data, kind, x[:vectors]), whole[:vectors])


def test_results_may_lie_apart_and_there_may_be_none(data, kind):
    x = np.ones((2, WIDTH), np.float32)
    wide = np.zeros((2, ROWS + 9), np.float32)
    compiled.product(data, kind, x, wide[:, 4 : 4 + ROWS])
    np.testing.assert_array_equal(wide[:, 4 : 4 + ROWS], product(data, kind, x))
    assert not wide[:, :4].any() and not wide[:, 4 + ROWS :].any()
    compiled.open_rows(data[:0], kind, np.empty((0, WIDTH), np.float32))


def test_what_can_be_read():
    for kind in SUPPORTED:
        _, size = block_code.block(kind) if kind in block_code.KINDS else (0, 1)
        assert compiled.reads(kind, 3 * size) == (kind in block_code.KINDS)
        assert not compiled.reads(kind, 0) and (size == 1 or not compiled.reads(kind, 3 * size + 2))
    assert all(columns(block_code.block(kind)[1], kind) == block_code.block(kind)[0] for kind in KINDS)


def test_what_does_not_fit_is_not_touched():
    """The code itself would read and write past the arrays."""
    kind = GGMLQuantizationType.Q8_0
    data, x, y = np.zeros((3, 2 * 34), np.uint8), np.zeros((2, 64), np.float32), np.zeros((2, 3), np.float32)
    compiled.product(data, kind, x, y)
    for wrong in (
        (data, x[:, :32].copy(), y),
        (data, np.zeros((2, 65), np.float32), y),
        (data, x[:, ::-1], y),
        (data, x.astype(np.float64), y),
        (data, x, y[:, :2]),
        (data, x, y[:1]),
        (data, x, y.astype(np.float16)),
        (data, x, np.zeros((3, 2), np.float32).T),
        (data, np.zeros((5, 64), np.float32), np.zeros((5, 3), np.float32)),
        (data, x[:0], y[:0]),
        (data[:, :67], x, y),
        (data[:, :67].copy(), x, y),
        (data[::2], x, y[:, :2]),
        (data[0], x, y),
        (data.view(np.int8), x, y),
    ):
        with pytest.raises(ValueError, match="Q8_0"):
            compiled.product(wrong[0], kind, *wrong[1:])
    for out in (np.zeros((3, 32), np.float32), np.zeros((2, 64), np.float32), np.zeros((3, 64)), np.zeros((64, 3)).T):
        with pytest.raises(ValueError, match="Q8_0"):
            compiled.open_rows(data, kind, out)


def test_all_is_made_before_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(compiled, "_made", {})
    kind = GGMLQuantizationType.F16
    out = np.zeros((1, 16), np.float32)
    compiled.prepare([kind], lambda: False)  # somebody wants to speak
    assert not compiled._made
    compiled.prepare([kind])
    monkeypatch.setattr(compiled, "_make", None)
    for n in range(1, compiled.MOST_VECTORS + 1):
        x, y = np.zeros((n, 16), np.float32), np.zeros((n, 1), np.float32)
        compiled.product(np.zeros((1, 32), np.uint8), kind, x, y)
    compiled.open_rows(np.zeros((1, 32), np.uint8), kind, out)
    assert len(compiled._made) == compiled.MOST_VECTORS + 1


def test_the_way_is_told():
    assert compiled.way().startswith(f"llvmlite {llvmlite.__version__}: +")


_LACKS = ["switch", "blas", "gpu", "llvmlite", "feature", "machine", "old", "unknown", "api", "forbidden", "wrong"]


@pytest.mark.parametrize("lack", _LACKS)
def test_where_nothing_is_made(lack, monkeypatch):
    import llvmlite.binding as llvm

    def forbidden(*given):
        raise MemoryError("memory that may be executed is not given")

    assert compiled.available()
    compiled._features.cache_clear()
    match lack:
        case "switch":
            monkeypatch.setenv("S2MLX_KERNELS", "off")
        case "blas":
            monkeypatch.setenv("S2MLX_HOST_BLAS", "off")
        case "old":  # another package brought it
            monkeypatch.setattr(compiled, "version", lambda name: "0.45.1")
        case "unknown":
            monkeypatch.setattr(compiled, "version", lambda name: "unknown")
        case "api":
            monkeypatch.setattr(llvm, "create_pass_builder", lambda machine: None)
        case "forbidden":
            monkeypatch.setattr(llvm, "create_mcjit_compiler", forbidden)
        case "wrong":
            monkeypatch.setattr(compiled, "_make", lambda *given: (lambda *arguments: None, None))
        case "gpu":
            monkeypatch.setattr(mx, "default_device", lambda: mx.Device(mx.gpu))
        case "llvmlite":
            monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
        case "feature":
            monkeypatch.setattr(compiled.platform, "machine", lambda: "x86_64")
            monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: {"avx2": True, "fma": True, "f16c": False})
        case "machine":
            monkeypatch.setattr(compiled.platform, "machine", lambda: "riscv64")
    try:
        assert not compiled.available() and not compiled.reads(KINDS[0], 64) and compiled.way() == ""
    finally:
        compiled._features.cache_clear()
