"""The plan: what becomes dense when memory is scarce, and what a model needs at the least."""

from types import SimpleNamespace

import mlx.core as mx
import pytest
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as T

from s2mlx.errors import ModelError
from s2mlx.weights import compiled, storage
from s2mlx.weights.storage import plan
from s2mlx.weights.tensor import Storage, Tensor

N = 1 << 20


def tensor(name, kind, elements=N):
    block, size = GGML_QUANT_SIZES[kind]
    return name, Tensor(name, (elements,), kind, SimpleNamespace(nbytes=elements // block * size))


A, B, FAST = "layers.0.attention.wqkv.weight", "layers.0.attention.wo.weight", "fast_layers.0.attention.wo.weight"
TENSORS = dict(
    [
        tensor(A, T.Q4_K),
        tensor(B, T.Q6_K),
        tensor(FAST, T.Q4_K),
        tensor("embeddings.weight", T.Q6_K),
        tensor("norm.weight", T.F16, 256),
    ]
)
LEAST = N * 6 // 8 * 2 + N * 210 // 256 * 2 + 4 * 256


@pytest.fixture
def opened(monkeypatch):
    """As where nothing is multiplied in machine code of ours."""
    monkeypatch.setattr(compiled, "available", lambda: False)


def forms(limit):
    return {name: form.value for name, form in plan(TENSORS, limit, "model.gguf").items()}


def test_the_least_that_a_model_needs(opened):
    with pytest.raises(ModelError, match=r"model.gguf: the weights need 3.3 MB .* 3.2 MB are .*smaller quantization"):
        plan(TENSORS, LEAST - 1, "model.gguf")
    with pytest.raises(ModelError, match=r"3.3 MB .* 1.0 kB are allowed"):
        plan(TENSORS, 1000, "model.gguf")
    assert forms(LEAST) == {
        A: "packed",
        B: "packed",
        FAST: "packed",
        "embeddings.weight": "table",
        "norm.weight": "packed",
    }


def test_memory_is_spent_where_it_helps_most(opened):
    """First the Fast-AR, read nine times a frame, then groups of 16, then the rest; never more than allowed."""
    dense = lambda limit: [name for name, form in forms(limit).items() if form == "dense"]
    fast = LEAST + 4 * N - N * 6 // 8
    sixteen = fast + 4 * N - N * 210 // 256
    assert dense(fast - 1) == []
    assert dense(fast) == dense(sixteen - 1) == [FAST]
    assert dense(sixteen) == [B, FAST]
    assert dense(sixteen + 4 * N) == [A, B, FAST]


def test_without_a_limit_half_of_the_memory_may_be_dense(opened, monkeypatch):
    monkeypatch.setattr(storage, "machine_memory", lambda: 2 * (LEAST + 4 * N - N * 6 // 8))
    assert list(forms(None).values()).count("dense") == 1
    monkeypatch.setattr(storage, "machine_memory", lambda: LEAST)
    assert "dense" not in forms(None).values()


def test_a_gpu_gets_raw_blocks_where_the_kernels_run(monkeypatch):
    from s2mlx import device

    monkeypatch.setattr(mx, "default_device", lambda: mx.Device(mx.gpu))
    for available, form in ((True, Storage.RAW), (False, Storage.PACKED)):
        monkeypatch.setattr(device, "kernels_available", lambda: available)
        assert set(plan(TENSORS, None, "model.gguf").values()) == {form}


def test_the_cpu_multiplies_the_blocks_of_the_file_where_it_can(monkeypatch):
    monkeypatch.setattr(compiled, "available", lambda: True)
    least = N * 144 // 256 * 2 + N * 210 // 256 * 2 + 4 * 256
    assert set(forms(least).values()) == {"compiled", "packed"} and forms(None)["norm.weight"] == "packed"
    with pytest.raises(ModelError, match="3.0 MB of memory, 2.9 MB are allowed"):
        plan(TENSORS, least - 1, "model.gguf")
    others = dict([tensor(A, T.Q4_0), tensor("embeddings.weight", T.Q5_1)])  # which are read nowhere but in MLX
    assert [form.value for form in plan(others, 1 << 30, "model.gguf").values()] == ["dense", "table"]


def test_memory_of_the_machine():
    assert storage.machine_memory() > 1 << 28
