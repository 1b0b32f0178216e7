"""Both autoregressive networks against the official modules (fp32 tables, float32 cache) and against s2.cpp."""

import mlx.core as mx
import numpy as np
import pytest

from s2mlx.layers.forms import Compiled
from s2mlx.networks.generate import Generation, generate
from s2mlx.networks.load import load_model
from s2mlx.options import Sampling
from s2mlx.weights import compiled, cores
from tests import goldens

GREEDY = Sampling(top_k=1)
# The official modules' numbers are float32 over exactly dequantized weights, so every type has to agree closely:
# what remains is the order of additions.
TOLERANCE = 1e-4


@pytest.fixture(params=goldens.TYPES)
def kind(request):
    return request.param


@pytest.fixture(params=goldens.PROMPTS)
def prompt(request):
    return request.param


def prefilled(kind, prompt):
    slow = goldens.model(kind).dual_ar.slow
    cache = goldens.model(kind).dual_ar.new_cache()
    return slow, cache, slow.prefill(goldens.arrays("prompts_s2cpp.npz")[prompt], cache)


def test_prefill_and_steps_equal_the_official_modules(kind, prompt):
    want = goldens.arrays(f"torch_ar_{kind}.npz")
    slow, cache, (_, normed) = prefilled(kind, prompt)
    rows = np.array(slow.head_ids)
    assert goldens.rms(normed[0], want[f"{prompt}_prefill_hidden"]) < TOLERANCE
    assert goldens.rms(slow.logits(normed)[0], want[f"{prompt}_prefill_logits"][rows]) < TOLERANCE
    for i, column in enumerate(goldens.inputs()["steps_6"].astype(np.int32)):
        ids, codes = mx.array(column[:1]), mx.array(column[1:])[None]
        _, normed = slow.forward(slow.embed(ids, codes), 1, cache)
        assert goldens.rms(normed[0], want[f"{prompt}_step_hidden"][i]) < TOLERANCE
        assert goldens.rms(slow.logits(normed)[0], want[f"{prompt}_step_logits"][i][rows]) < TOLERANCE


def test_fast_decoder_equals_the_official_module(kind):
    """Logits after 0..9 fed codes, from the official hidden state."""
    want = goldens.arrays(f"torch_ar_{kind}.npz")
    fast = goldens.model(kind).dual_ar.fast
    hidden = mx.array(want["text_only_prefill_hidden"])[None]
    prefix = goldens.inputs()["fast_prefix_9"].astype(np.int32)
    got = []

    def feed(logits, k):
        got.append(np.array(logits[0]))
        return mx.array(prefix[k : k + 1]) if k < len(prefix) else mx.argmax(logits, axis=-1).astype(mx.int32)

    fast.complete(fast.input(hidden, hidden), mx.array(prefix[:1]), feed)
    assert len(got) == 9
    for k, row in enumerate(got, start=1):  # row 0, position 0's logits, is never used
        assert goldens.rms(row, want["fast_logits"][k]) < TOLERANCE


@pytest.mark.parametrize("kind", ["f16"])
def test_greedy_codes_equal_s2cpp(kind, prompt):
    """s2.cpp rounds activations of quantized models, so only its f16 codes are comparable."""
    matrix = goldens.arrays("prompts_s2cpp.npz")[prompt]
    *frames, last = generate(goldens.model(kind).dual_ar, Generation(matrix, 1, 20, 20), GREEDY)
    got = np.stack([f.codes for f in frames], axis=1)
    np.testing.assert_array_equal(got, goldens.arrays(f"ar_{kind}.npz")[f"{prompt}_greedy_codes_minend20"])
    assert last.finish_reason == "length"


def test_greedy_codes_equal_the_official_modules(kind, prompt):
    matrix = goldens.arrays("prompts_s2cpp.npz")[prompt]
    frames = list(generate(goldens.model(kind).dual_ar, Generation(matrix, 1, 20, 20), GREEDY))[:-1]
    got = np.stack([f.codes for f in frames], axis=1)
    np.testing.assert_array_equal(got, goldens.arrays(f"torch_ar_{kind}.npz")[f"{prompt}_greedy_codes"])


def test_greedy_codes_by_machine_code(kind, monkeypatch):
    """As large matrices are multiplied on the CPU where llvmlite is installed; those of these models are small."""
    if not compiled.available():
        pytest.skip('products in machine code need llvmlite: pip install "s2mlx[cpu]"')
    monkeypatch.setattr(cores, "WORTH_IT", 0)
    model = load_model(goldens.path(f"tiny-{kind}.gguf"), goldens.GOLDEN / "tokenizer.json", "s2cpp")
    assert isinstance(model.dual_ar.fast.output.form, Compiled)
    matrix = goldens.arrays("prompts_s2cpp.npz")["ref"]
    frames = list(generate(model.dual_ar, Generation(matrix, 1, 20, 20), GREEDY))[:-1]
    got = np.stack([f.codes for f in frames], axis=1)
    np.testing.assert_array_equal(got, goldens.arrays(f"torch_ar_{kind}.npz")["ref_greedy_codes"])


def test_f16_within_reach_of_s2cpp(prompt):
    """s2.cpp rounds f16 activations and keeps an f16 cache: rms 0.02 of logits whose deviation is 4.1."""
    want = goldens.arrays("ar_f16.npz")
    slow, _, (_, normed) = prefilled("f16", prompt)
    assert goldens.rms(slow.logits(normed)[0], want[f"{prompt}_prefill_logits"][np.array(slow.head_ids)]) < 0.02


@pytest.mark.parametrize("kind, within", [("f16", 0.02), ("q8_0", 0.2), ("q6_k", 0.25), ("q4_k_m", 0.25)])
def test_twenty_frames_of_s2cpp(kind, within, prompt):
    """Fed its codes frame by frame: 20 rows of the head's logits and 20 times 9 of the fast decoder's. With quantized
    models s2.cpp rounds the activations as well, about 5 % of the logits' deviation."""
    want = goldens.arrays(f"ar_{kind}.npz")
    codes, fast = want[f"{prompt}_greedy_codes_loop"].astype(np.int32), goldens.model(kind).dual_ar.fast
    slow, cache, (_, normed) = prefilled(kind, prompt)
    rows = np.array(slow.head_ids)
    for i in range(20):
        frame = mx.array(codes[:, i])
        assert goldens.rms(slow.logits(normed)[0], want[f"{prompt}_greedy_logits"][i][rows]) < within
        hidden, got = mx.array(want[f"{prompt}_greedy_hidden"][i])[None], []
        fast.complete(
            fast.input(hidden, hidden), frame[:1], lambda logits, k: got.append(logits[0]) or frame[k : k + 1]
        )
        assert goldens.rms(np.array(mx.stack(got)), want[f"{prompt}_greedy_fast_logits"][i]) < within
        _, normed = slow.step(frame[:1], frame[None], cache)


def test_bf16_tables_are_the_default_and_differ_from_fp32(prompt):
    exact = prefilled("q4_k_m", prompt)[2][1]
    dual_ar = goldens.model("q4_k_m", None).dual_ar
    rounded = dual_ar.prefill(goldens.arrays("prompts_s2cpp.npz")[prompt], dual_ar.new_cache())[1]
    assert 1e-4 < goldens.rms(exact, rounded) < 0.05
