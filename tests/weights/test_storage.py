"""The plan: what becomes dense when memory is scarce, and what a model needs at the least."""

import mlx.core as mx
import pytest
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as T

from s2mlx.errors import ModelError
from s2mlx.weights import storage
from s2mlx.weights.storage import Part, Storage, plan

N = 1 << 20


def part(kind, role="matrix", elements=N):
    block, size = GGML_QUANT_SIZES[kind]
    return Part(elements, elements // block * size, kind, role)


PARTS = {
    "layers.0.a": part(T.Q4_K),
    "layers.0.b": part(T.Q6_K),
    "fast_layers.0.a": part(T.Q4_K),
    "embeddings.weight": part(T.Q6_K, "table"),
    "norm.weight": part(T.F16, "other", 256),
}
LEAST = N * 6 // 8 * 2 + N * 210 // 256 * 2 + 4 * 256


def forms(limit):
    return {name: form.value for name, form in plan(PARTS, limit, "model.gguf").items()}


def test_the_least_that_a_model_needs():
    with pytest.raises(ModelError, match=r"model.gguf: the weights need 3.3 MB .* 3.2 MB are .*smaller quantization"):
        plan(PARTS, LEAST - 1, "model.gguf")
    with pytest.raises(ModelError, match=r"3.3 MB .* 1.0 kB are allowed"):
        plan(PARTS, 1000, "model.gguf")
    assert forms(LEAST) == {
        "layers.0.a": "packed",
        "layers.0.b": "packed",
        "fast_layers.0.a": "packed",
        "embeddings.weight": "table",
        "norm.weight": "packed",
    }


def test_memory_is_spent_where_it_helps_most():
    """First the Fast-AR, read nine times a frame, then groups of 16, then the rest; never more than allowed."""
    dense = lambda limit: [name for name, form in forms(limit).items() if form == "dense"]
    fast = LEAST + 4 * N - N * 6 // 8
    sixteen = fast + 4 * N - N * 210 // 256
    assert dense(fast - 1) == []
    assert dense(fast) == dense(sixteen - 1) == ["fast_layers.0.a"]
    assert dense(sixteen) == ["layers.0.b", "fast_layers.0.a"]
    assert dense(sixteen + 4 * N) == ["layers.0.a", "layers.0.b", "fast_layers.0.a"]


def test_without_a_limit_half_of_the_memory_may_be_dense(monkeypatch):
    monkeypatch.setattr(storage, "machine_memory", lambda: 2 * (LEAST + 4 * N - N * 6 // 8))
    assert list(forms(None).values()).count("dense") == 1
    monkeypatch.setattr(storage, "machine_memory", lambda: LEAST)
    assert "dense" not in forms(None).values()


def test_a_gpu_gets_raw_blocks_where_the_kernels_run(monkeypatch):
    from s2mlx import device

    monkeypatch.setattr(mx, "default_device", lambda: mx.Device(mx.gpu))
    for available, form in ((True, Storage.RAW), (False, Storage.PACKED)):
        monkeypatch.setattr(device, "kernels_available", lambda: available)
        assert set(plan(PARTS, None, "model.gguf").values()) == {form}


def test_memory_of_the_machine():
    assert storage.machine_memory() > 1 << 28
