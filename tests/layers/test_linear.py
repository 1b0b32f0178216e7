"""One Linear over every form: the same products, the same rows, whatever the weights are kept as."""

import dataclasses

import mlx.core as mx
import numpy as np
import pytest
import threadpoolctl
from gguf import quants
from gguf.constants import GGMLQuantizationType as T

from s2mlx.layers import forms
from s2mlx.layers import matmul as matmul_module
from s2mlx.layers.linear import Linear
from s2mlx.weights import compiled, cores
from s2mlx.weights.block_formats import SUPPORTED
from s2mlx.weights.mapped import MappedFile, Region
from s2mlx.weights.tensor import Storage, Tensor
from tests.weights.gguf_maker import encode, random_blocks

OUT, IN = 37, 512
KINDS = sorted(SUPPORTED)


@pytest.fixture
def make(tmp_path):
    def make(kind, storage, rows=OUT, seed=0, bias=None):
        raw = random_blocks((rows, IN), kind, np.random.default_rng(seed), IN**-0.5)
        return _tensor(tmp_path / f"{kind.name}{rows}{seed}.bin", (rows, IN), kind, raw.tobytes(), storage)

    return make


def _tensor(path, shape, kind, data, storage=Storage.PACKED):
    path.write_bytes(bytes(96) + data)  # not at the beginning, as in a real file
    return Tensor(path.stem, shape, kind, Region(MappedFile(path), 96, 96 + len(data)), storage)


def weights(tensor):
    return np.asarray(quants.dequantize(tensor.data, tensor.type), np.float32).reshape(tensor.shape)


def random(*shape, seed=0):
    return mx.array(np.random.default_rng(seed).standard_normal(shape, np.float32))


@pytest.mark.parametrize("storage", Storage, ids=lambda s: s.value)
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
def test_products_rows_and_selections(make, kind, storage):
    tensor = make(kind, storage)
    w, linear = weights(tensor), Linear(tensor)
    assert (linear.out_features, linear.in_features) == (OUT, IN)
    for shape in ((IN,), (1, 1, IN), (2, 11, IN)):
        x = random(*shape)
        y = linear(x)
        assert y.dtype == mx.float32 and np.abs(np.array(y) - np.array(x) @ w.T).max() < 2e-5
    ids = mx.array([[3, 36], [0, 3]], mx.int32)
    assert np.array_equal(np.array(linear.rows(ids)), w[np.array(ids)])
    assert linear.rows(mx.zeros((2, 0), mx.int32)).shape == (2, 0, IN)
    x = random(3, IN)
    for chosen, rows in ((linear.select(5, 9), slice(5, 9)), (linear.select(mx.array([30, 2])), [30, 2])):
        assert chosen.out_features == len(w[rows])
        assert np.abs(np.array(chosen(x)) - np.array(x) @ w[rows].T).max() < 2e-5


@pytest.mark.parametrize("storage", Storage, ids=lambda s: s.value)
def test_stacks_of_like_and_unlike_matrices(make, storage):
    for kinds in ((T.Q4_K, T.Q4_K), (T.Q4_K, T.Q6_K), (T.Q8_0, T.Q5_K), (T.F16, T.BF16), (T.F16, T.Q2_K)):
        tensors = [make(kind, storage, rows=5 + i, seed=i) for i, kind in enumerate(kinds)]
        stack, x = Linear.stack(tensors), random(2, IN)
        assert stack.out_features == 11
        expected = np.array(x) @ np.concatenate([weights(t) for t in tensors]).T
        assert np.abs(np.array(stack(x)) - expected).max() < 2e-5


def test_a_stack_of_like_matrices_is_one_product(make):
    for kind in (T.Q4_K, T.Q6_K, T.F16):
        for storage in Storage:
            stack = Linear.stack([make(kind, storage, rows=n, seed=n) for n in (3, 4)])
            assert not isinstance(stack.form, forms.Parts)


def test_bias(make, tmp_path):
    values = np.arange(OUT, dtype=np.float32)
    bias = _tensor(tmp_path / "bias.bin", (OUT,), T.F32, values.tobytes())
    tensor = make(T.Q4_K, Storage.PACKED)
    linear, x = Linear(tensor, bias), random(2, IN)
    expected = np.array(x) @ weights(tensor).T + values
    assert np.abs(np.array(linear(x)) - expected).max() < 2e-5
    assert np.abs(np.array(linear.select(4, 6)(x)) - expected[:, 4:6]).max() < 2e-5


def test_quantized_weights_stay_as_small_as_their_form_says(make):
    packed = {T.Q4_K: 6.0, T.Q8_0: 10.0, T.Q6_K: 6.5625, T.Q3_K: 3.4375, T.Q2_K: 2.625, T.F16: 16.0}
    for kind, bits in packed.items():
        assert Linear(make(kind, Storage.PACKED)).nbytes * 8 == bits * OUT * IN
    for kind in packed:
        tensor = make(kind, Storage.TABLE)
        assert Linear(tensor).nbytes == tensor.nbytes


def test_a_head_cut_from_a_table_is_dense_and_small(make):
    head = Linear(make(T.Q6_K, Storage.TABLE)).select(mx.array([1, 2]))
    assert isinstance(head.form, forms.Dense) and head.nbytes == 2 * IN * 4


def test_metal_kernels_get_the_bytes_of_the_file(make):
    tensor = make(T.Q5_K, Storage.RAW)
    form = Linear(tensor).form
    assert isinstance(form, forms.RawBlocks) and np.array_equal(np.array(form.data), tensor.data)


def test_large_matrices_are_opened_in_pieces(make, monkeypatch):
    monkeypatch.setattr(forms, "PIECE", 4 * IN)
    tensor = make(T.Q6_K, Storage.PACKED)
    opened, decode = [], forms.decode
    monkeypatch.setattr(forms, "decode", lambda data, kind: opened.append(len(data)) or decode(data, kind))
    y = Linear(tensor)(x := random(3, IN))
    assert max(opened) == 4 and sum(opened) == OUT
    assert np.abs(np.array(y) - np.array(x) @ weights(tensor).T).max() < 2e-5


def test_half_precision_activations_keep_their_type(make):
    for storage in Storage:
        for kind in (T.Q4_K, T.Q6_K, T.F16):
            if storage is not Storage.DENSE:
                assert Linear(make(kind, storage))(random(2, IN).astype(mx.float16)).dtype == mx.float16


def test_a_tensor_in_pieces_is_the_tensor(tmp_path, monkeypatch):
    from s2mlx.weights import tensor as module

    monkeypatch.setattr(module, "PIECE", 3 * 6)
    rng = np.random.default_rng(3)
    for kind in (T.F32, T.F16, T.BF16):
        values = rng.standard_normal((5, 4, 6), np.float32)
        tensor = _tensor(tmp_path / f"{kind.name}.bin", (5, 4, 6), kind, encode(values, kind, rng))
        assert tensor.data.shape[0] == 20
        assert np.array_equal(np.array(tensor.dense()), weights(tensor))


@pytest.mark.parametrize("kind", [T.Q8_0, T.Q6_K, T.F16, T.BF16, T.F32], ids=lambda k: k.name)
def test_large_matrices_are_shared_by_the_cores(make, kind, monkeypatch):
    monkeypatch.setattr(cores, "WORTH_IT", 1)
    tensors = [make(kind, Storage.DENSE, rows=n, seed=n) for n in (700, 37)]
    w, answers = np.concatenate([weights(t) for t in tensors]), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("S2MLX_HOST_BLAS", threads)
        linear = Linear.stack(tensors)
        assert isinstance(linear.form, forms.Host) and linear.out_features == 737 and linear.nbytes == w.nbytes
        assert np.array_equal(np.array(linear.rows(mx.array([[736, 3]]))), w[[[736, 3]]])
        answers.append([np.array(linear(random(*shape))) for shape in ((IN,), (2, IN), (2, 11, IN))])
        for y, shape in zip(answers[-1], ((IN,), (2, IN), (2, 11, IN))):
            assert np.abs(y - np.array(random(*shape)) @ w.T).max() < 2e-5
    assert all(np.array_equal(a, b) for other in answers[1:] for a, b in zip(answers[0], other))
    chosen = linear.select(mx.array([736, 0]))
    assert np.abs(np.array(chosen(random(3, IN))) - np.array(random(3, IN)) @ w[[736, 0]].T).max() < 2e-5
    monkeypatch.setenv("S2MLX_HOST_BLAS", "off")
    assert np.abs(np.array(linear(random(3, IN))) - np.array(random(3, IN)) @ w.T).max() < 2e-5


@pytest.mark.parametrize("kind", [T.Q8_0, T.Q4_K, T.F16], ids=lambda k: k.name)
def test_blocks_are_multiplied_where_they_lie_by_all_cores(make, kind, monkeypatch):
    if not compiled.available():
        pytest.skip('products in machine code need llvmlite: pip install "s2mlx[cpu]"')
    monkeypatch.setattr(matmul_module, "WORTH_SHARING", 1)
    monkeypatch.setattr(matmul_module, "_OPENED", 40 * IN)  # several pieces where blocks are opened first
    tensors = [make(kind, Storage.COMPILED, rows=n, seed=n) for n in (700, 37)]
    tensors.append(make(T.Q6_K, Storage.COMPILED, rows=5, seed=5))  # of another type, and below the others all the same
    w, answers = np.concatenate([weights(t) for t in tensors]), []
    shapes = ((IN,), (2, IN), (5, IN), (12, IN), (13, IN), (2, 11, IN))
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("S2MLX_HOST_BLAS", threads)
        linear = Linear.stack(tensors)
        assert isinstance(linear.form, forms.Compiled) and linear.nbytes == sum(t.nbytes for t in tensors)
        assert np.shares_memory(linear.form.arrays[0], tensors[0].region.file.bytes)
        answers.append([np.array(linear(random(*shape))) for shape in shapes])
        for y, shape in zip(answers[-1], shapes):
            assert np.abs(y - np.array(random(*shape)) @ w.T).max() < 2e-5
    assert all(np.array_equal(a, b) for other in answers[1:] for a, b in zip(answers[0], other))
    for x in (random(2, 5, IN)[:, -1], random(IN, 3).T):  # whose numbers lie apart
        assert np.abs(np.array(linear(x)) - np.array(x) @ w.T).max() < 2e-5
    for rows in (lambda: linear.rows(mx.array([3])), lambda: linear.select(0, 3), lambda: linear.select(mx.array([3]))):
        with pytest.raises(ValueError, match="joined"):
            rows()
    table = Linear(tensors[0])
    assert np.array_equal(np.array(table.rows(mx.array([-1, 700]))), w[[0, 699]])  # nothing beside the table is read
    assert table.select(3, 3)(random(2, IN)).shape == (2, 0)


@pytest.mark.parametrize("variable", ["S2MLX_HOST_BLAS", "S2MLX_KERNELS"])
def test_machine_code_that_is_switched_off_is_left_aside(make, variable, monkeypatch):
    """From then on, and by who has loaded with it."""
    if not compiled.available():
        pytest.skip('products in machine code need llvmlite: pip install "s2mlx[cpu]"')
    tensors = [make(T.Q4_K, Storage.COMPILED), make(T.F16, Storage.COMPILED, rows=5)]
    w, linear, one = np.concatenate([weights(t) for t in tensors]), Linear.stack(tensors), Linear(tensors[0])
    monkeypatch.setenv(variable, "off")
    for of in (compiled.__dict__, forms.__dict__):
        for name in {"product", "open_rows", "blocks_product"} & of.keys():
            monkeypatch.setitem(of, name, None)
    assert np.abs(np.array(linear(random(3, IN))) - np.array(random(3, IN)) @ w.T).max() < 2e-5
    assert np.abs(np.array(one(random(3, IN))) - np.array(random(3, IN)) @ w[:OUT].T).max() < 2e-5
    assert np.array_equal(np.array(one.rows(mx.array([[3, 36]]))), w[[[3, 36]]])
    assert isinstance(Linear(tensors[0]).form, forms.Dense)


def test_blas_has_one_thread_while_the_cores_share_a_product(make):
    """Of blocks, too: their sums must not go by the number of cores."""
    if not compiled.available():
        pytest.skip('products in machine code need llvmlite: pip install "s2mlx[cpu]"')
    threads = lambda: {each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"}
    linear = Linear(make(T.Q4_K, Storage.COMPILED))
    threadpoolctl.threadpool_limits(2, user_api="blas")
    matmul_module._one_thread_each.cache_clear()
    mx.eval(linear(random(13, IN)))
    assert threads() == {1}


@pytest.mark.parametrize("storage", Storage, ids=lambda s: s.value)
def test_a_matrix_that_must_be_made_is_made_once(make, storage, monkeypatch):
    """MLX's packed matrices, weight norm: then what they are made of is let go."""
    tensor, made = make(T.Q8_0, storage), []

    class Made:
        nbytes = tensor.nbytes

        @property
        def data(self):
            made.append("made")
            return tensor.data.reshape(-1).copy()

        def rows(self, count):
            return self.data.reshape(count, -1)

        def array(self, align=1):
            return mx.array(self.data)

        def release(self, begin=0, end=None):
            made.append("released")

    linear = Linear(dataclasses.replace(tensor, region=Made()))
    assert np.abs(np.array(linear(random(2, IN))) - np.array(random(2, IN)) @ weights(tensor).T).max() < 2e-5
    assert made in (["made", "released"], ["made"] if storage is Storage.RAW else [])


@pytest.mark.parametrize("kind", [T.Q6_K, T.F16], ids=lambda k: k.name)
def test_tables_stay_in_the_file(make, kind):
    tensor = make(kind, Storage.TABLE)
    table = Linear(tensor)
    assert np.shares_memory(table.form.data, tensor.region.file.bytes)
    ids = mx.array([[-1, OUT], [3, 3]])
    assert np.array_equal(np.array(table.rows(ids)), weights(tensor)[[[0, OUT - 1], [3, 3]]])


def test_products_of_floats_are_shared_by_the_cores(monkeypatch):
    """With few rows and with many: the same numbers whoever computes them."""
    monkeypatch.setattr(matmul_module, "WORTH_SHARING", 1)
    w = random(300, 710, seed=1)
    for rows in (1, 3, 700):
        x, answers = random(rows, 300), []
        for threads in ("1", "2", "3"):
            monkeypatch.setenv("S2MLX_HOST_BLAS", threads)
            answers.append(np.array(matmul_module.matmul(x, w)))
        assert np.abs(answers[0] - np.array(x) @ np.array(w)).max() < 1e-4
        assert all(np.array_equal(answers[0], other) for other in answers[1:])
