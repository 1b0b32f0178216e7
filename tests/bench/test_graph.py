"""The counter counts small graphs right, and a frame as a GPU would see it."""

import mlx.core as mx
import pytest

from s2mlx.bench import graph, pretend
from s2mlx.layers.scope import Scope
from s2mlx.networks.dual_ar import DualAR
from s2mlx.weights import open_checkpoint
from tests.synthetic import IM_END, make_model


@pytest.fixture
def x():
    array = mx.arange(6).astype(mx.float32)
    mx.eval(array)
    return array


def test_counts_nodes_and_launches(x):
    found = graph.count([mx.abs(x).reshape(2, 3) + x.reshape(2, 3)])
    assert found.kinds == {"Abs": 1, "Reshape": 2, "Add": 1}
    assert (found.nodes, found.work, found.launches) == (4, 2, 2)


def test_kinds_of_two_words_count_too(x):
    found = graph.count([mx.sum(x) + x.view(mx.int32)])
    assert found.kinds["Sum"] + found.kinds["Reduce Sum"] == 1 and found.kinds["View int32"] == 1
    assert found.nodes - found.launches >= 1  # the view


def test_shared_nodes_count_once_and_evaluated_ones_not_at_all(x):
    y = mx.exp(x)
    assert graph.count([mx.abs(y), mx.sin(y)]).nodes == 3
    mx.eval(y)
    assert graph.count([mx.abs(y), mx.sin(y)]).nodes == 2
    assert graph.count([y]).nodes == 0


def test_a_concatenation_launches_one_copy_per_input(x):
    found = graph.count([mx.concatenate([x, x * x, x])])
    assert (found.work, found.launches) == (2, 1 + 3)


def test_a_write_into_a_slice_copies_first(x):
    y = mx.exp(x)
    y[1:3] = mx.abs(x)[:2]
    found = graph.count([y])
    assert found.kinds["SliceUpdate"] == 1 and found.launches == 2 + 2


def test_a_node_with_two_outputs_counts_once(x):
    first, second = mx.split(x, 2)
    assert graph.count([first + second]).kinds == {"Split": 1, "Add": 1}


def test_mx_fast_is_one_node_on_the_gpu_that_is_not_there(x):
    many = graph.count([mx.fast.rms_norm(x, x, 1e-6)]).nodes
    with pretend.gpu(kernels=False) as made:
        q = mx.ones((1, 2, 1, 8))
        mx.eval(q)
        assert graph.count([mx.fast.rms_norm(x, x, 1e-6)], made).kinds == {"rms_norm": 1}
        one = mx.fast.scaled_dot_product_attention(q, q, q, scale=1.0)
        assert graph.count([one], made).kinds == {"scaled_dot_product_attention": 1}
    assert graph.count([mx.fast.rms_norm(x, x, 1e-6)]).nodes == many  # and is itself again afterwards


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("bench") / "model.gguf", type="q8_0", codec=False)


def frame_of(model_file, kernels, batch=1):
    with pretend.gpu(kernels) as made, open_checkpoint(model_file) as checkpoint:
        model = DualAR(Scope(checkpoint.tensors), checkpoint.config, IM_END)
        return graph.frame(model, batch=batch, names=made)


def test_a_frame_multiplies_by_every_matrix(model_file):
    found = frame_of(model_file, kernels=False)
    slow = 2 * 4 + 1  # layers of wqkv, wo, w13 and w2, and the head
    assert found.kinds["QuantizedMatmul"] == slow + 9 * (2 * 4 + 1)
    assert found.kinds["scaled_dot_product_attention"] == 2 + 9 * 2
    assert "Depends" not in found.kinds


def test_kernels_make_a_frame_of_fewer_nodes(model_file):
    plain, fused = frame_of(model_file, kernels=False), frame_of(model_file, kernels=True)
    assert fused.nodes < plain.nodes and fused.launches < plain.launches
    assert any(kind.startswith("qmv") for kind in fused.kinds)


def test_a_batch_reads_no_matrix_twice(model_file):
    one, four = frame_of(model_file, kernels=False), frame_of(model_file, kernels=False, batch=4)
    assert four.kinds["QuantizedMatmul"] == one.kinds["QuantizedMatmul"]


def test_calls_of_a_compiled_function_count_each(x):
    """MLX gives them one name in its picture of the graph."""
    chain = mx.compile(lambda a: mx.sin(a) * 2 + 1)
    y = chain(chain(chain(x)))
    found = graph.count([y])
    assert found.nodes == found.launches == 3, found.kinds
