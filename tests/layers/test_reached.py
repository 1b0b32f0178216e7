"""What a network is made of is found wherever it lies, and files that wait are no part of it."""

import mlx.core as mx
import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType as T

from s2mlx.layers.causal_conv import CausalConv
from s2mlx.layers.linear import Linear
from s2mlx.layers.reached import compiled_kinds, host_bytes, linears
from s2mlx.layers.scope import Scope
from s2mlx.weights import compiled
from s2mlx.weights.mapped import MappedFile, Region
from s2mlx.weights.tensor import Storage, Tensor


class Network:
    """Of this package, as far as its module says."""

    def __init__(self, **parts):
        vars(self).update(parts)


Network.__module__ = "s2mlx.networks.made_up"


@pytest.fixture
def tensor(tmp_path):
    (tmp_path / "x").write_bytes(bytes(1 << 20))
    file = MappedFile(tmp_path / "x")

    def tensor(kind, shape, size, storage=Storage.COMPILED):
        return Tensor("x", shape, kind, Region(file, 0, size), storage)

    return tensor


def test_bytes_beside_mlx(tensor):
    """In NumPy's memory or in the file, each once; none of what is not loaded, and of what MLX counts."""
    conv = CausalConv(Scope({"c.weight": tensor(T.F32, (8, 4, 3), 384), "c.bias": tensor(T.F32, (8,), 32)}, "c"))
    table = Linear(tensor(T.Q8_0, (20, 64), 20 * 68, Storage.TABLE))
    dense = Linear(tensor(T.Q8_0, (20, 64), 20 * 68, Storage.DENSE))
    later = Scope({"x": tensor(T.F32, (8,), 32)})
    network = Network(parts=[table, (dense,), Network(same=table, conv=conv, later=later)], other=mx.zeros(9))
    assert set(linears(network)) == {table, dense}
    of_conv = conv.weight.nbytes if isinstance(conv.weight, np.ndarray) else 0
    assert host_bytes(network) == 20 * 68 + of_conv and host_bytes([None]) == 0


def test_blocks_for_machine_code(tensor):
    if not compiled.available():
        pytest.skip('products in machine code need llvmlite: pip install "s2mlx[cpu]"')
    joined = Linear.stack([tensor(T.Q8_0, (20, 64), 20 * 68), tensor(T.F16, (3, 64), 3 * 128)])
    network = Network(parts=[joined, Linear(tensor(T.F32, (3, 64), 3 * 256, Storage.DENSE))])
    assert compiled_kinds(network) == {T.Q8_0, T.F16}
    assert host_bytes(network) == 20 * 68  # both are the beginning of one file here
