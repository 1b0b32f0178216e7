"""A model as a folder in MLX's layout: what MLX reads of it, what comes back, and folders that others packed."""

import json
import shutil

import mlx.core as mx
import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType as T

from s2mlx.convert import as_folder, convert, encode
from s2mlx.errors import ModelError, S2Error, UsageError
from s2mlx.networks.load import load_model
from s2mlx.weights import open_checkpoint
from s2mlx.weights.gguf_file import GGUFFile
from s2mlx.weights.mapped import Region
from s2mlx.weights.packed import Packed
from tests.synthetic import make_model

from .conftest import opened, rounded

W1, W2 = "layers.0.feed_forward.w1.weight", "layers.1.feed_forward.w2.weight"


@pytest.fixture
def source(folder):
    """A GGUF with everything that only its keys say."""
    return make_model(
        folder / "source.gguf",
        qk_norm=False,
        scale=False,
        metadata={
            "general.author": "somebody",
            "s2mlx.sampling.temperature": 0.5,
            "s2mlx.speech.dialogue": False,
            "s2mlx.speech.reference_seconds": 6.0,
            "s2mlx.speech.languages": "en de",
            "s2mlx.speech.tags": False,
        },
    )


def same_weights(a, b):
    assert a.tensors.keys() == b.tensors.keys()
    for name, tensor in a.tensors.items():
        assert tensor.shape == b.tensors[name].shape
        assert np.array_equal(np.array(tensor.dense()), np.array(b.tensors[name].dense())), name


@pytest.mark.parametrize(
    "type, kind",
    [("q8_0", T.Q8_0), ("q5_1", T.Q5_1), ("q4_1", T.Q4_1), ("f16", T.F16), ("bf16", T.BF16), ("f32", T.F32)],
)
def test_the_same_model_as_the_gguf_of_that_type(folder, type, kind):
    source = make_model(folder / "source.gguf", type="f32")
    made = convert(source, folder / "mlx", type)
    convert(source, folder / "made.gguf", type) if type != "f32" else shutil.copy(source, folder / "made.gguf")
    with opened(made.path) as ours, opened(folder / "made.gguf") as theirs:
        assert ours.config == theirs.config and ours.tensors[W1].type is kind
        same_weights(ours, theirs)
    assert sum(p.stat().st_size for p in made.path.iterdir()) == made.nbytes
    assert sorted(p.name for p in made.path.iterdir()) == [
        "codec.safetensors",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]


@pytest.mark.parametrize("type, bits", [("q8_0", 8), ("q5_1", 5), ("q4_1", 4)])
def test_mlx_reads_it(source, folder, type, bits):
    convert(source, folder / "mlx", type)
    config = json.loads((folder / "mlx" / "config.json").read_text())
    assert config["quantization"] == {"group_size": 32, "bits": bits} and config["model_type"] == "fish_qwen3_omni"
    assert config["text_config"]["n_layer"] == 2 and config["text_config"]["head_dim"] == 16
    weights = mx.load(str(folder / "mlx" / "model.safetensors"))
    packed = [weights["model." + W1.replace("weight", end)] for end in ("weight", "scales", "biases")]
    assert [a.dtype for a in packed] == [mx.uint32, mx.float16, mx.float16]
    values = mx.dequantize(packed[0], packed[1].astype(mx.float32), packed[2].astype(mx.float32), 32, bits)
    x = mx.random.normal((3, 64))
    with opened(folder / "mlx") as ours:
        assert np.array_equal(np.array(values), np.array(ours.tensors[W1].dense()))
        product = mx.quantized_matmul(x, *packed, transpose=True, group_size=32, bits=bits)
        assert np.allclose(np.array(product), np.array(x @ ours.tensors[W1].dense().T), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("type", ["q8_0", "q5_1", "q4_1", "f16"])
def test_there_and_back_to_the_bit(source, folder, type):
    """A GGUF of the type -> a folder -> a GGUF: the same keys with the same values, the same bytes."""
    if type != "f16":
        source = convert(source, folder / "first.gguf", type).path
    convert(source, folder / "mlx", type)
    with opened(source) as a, opened(folder / "mlx") as b:
        assert a.config == b.config
    convert(folder / "mlx", folder / "last.gguf", type)
    before, after = GGUFFile(source), GGUFFile(folder / "last.gguf")
    usual = {"general.file_type", "general.quantization_version"}
    assert all(np.array_equal(after.metadata[key], x) for key, x in before.metadata.items() if key not in usual)
    assert {n: (e.shape, e.type, e.region.data.tobytes()) for n, e in before.tensors.items()} == {
        n: (e.shape, e.type, e.region.data.tobytes()) for n, e in after.tensors.items()
    }


def test_what_is_made_speaks(source, folder):
    convert(source, folder / "mlx", "q8_0")
    model = load_model(folder / "mlx", compat="s2cpp")
    assert model.tokenizer.vocab_size and model.dual_ar and model.codec


def test_from_the_official_checkpoint(official, folder):
    source = official("BF16")
    (source / "notes.txt").write_text("Not for the result.")
    made = convert(source, folder / "mlx", "bf16")
    with opened(source) as ours, opened(made.path) as theirs:
        assert rounded(ours.config) == rounded(theirs.config)
        for name, tensor in ours.tensors.items():
            if not name.startswith("c."):
                assert theirs.tensors[name].data.tobytes() == tensor.data.tobytes()
    assert (made.path / "LICENSE.md").read_text() == "Some licence." and not (made.path / "notes.txt").exists()
    config = json.loads((made.path / "config.json").read_text())
    assert "quantization" not in config and config["audio_pad_token_id"] == 1011


def test_matrices_of_other_bits_are_named(folder):
    source = make_model(folder / "source.gguf", type="q8_0", types={"w2": "q4_1"})
    made = convert(source, folder / "mlx", "q8_0")
    packing = json.loads((folder / "mlx" / "config.json").read_text())["quantization"]
    assert packing["bits"] == 8 and packing["model.layers.0.feed_forward.w2"] == {"group_size": 32, "bits": 4}
    with opened(made.path) as ours, opened(source) as theirs:
        assert ours.tensors[W2].type is T.Q4_1
        same_weights(ours, theirs)


@pytest.mark.parametrize("type", ["q6_k", "q4_k_m", "q4_0", "q5_0"])
def test_types_that_the_layout_has_not(source, folder, type):
    with pytest.raises(UsageError, match=f"not {type}; a name that ends in .gguf"):
        convert(source, folder / "mlx", type)


def test_a_folder_is_replaced_only_if_it_is_a_model(source, folder):
    convert(source, folder / "mlx")
    with pytest.raises(S2Error, match="mlx exists; --force"):
        convert(source, folder / "mlx", "q4_1")
    convert(source, folder / "mlx", "q4_1", force=True)
    with opened(folder / "mlx") as made:
        assert made.tensors[W1].type is T.Q4_1
    (folder / "mlx" / "thesis.txt").write_text("Years of work.")
    with pytest.raises(S2Error, match="holds thesis.txt"):
        convert(source, folder / "mlx", "q8_0", force=True)
    assert sorted(p.name for p in folder.iterdir()) == ["mlx", "source.gguf"]
    (folder / "empty").mkdir()
    (folder / "empty" / ".DS_Store").write_bytes(b"")
    convert(source, folder / "empty")
    assert (folder / "empty" / "model.safetensors").exists()
    (folder / "file").write_text("")
    with pytest.raises(UsageError, match="it is a file"):
        convert(source, folder / "file", force=True)


def test_what_any_source_brought_can_be_replaced(official, source, folder):
    """A folder made of a checkpoint has a licence, and other tools' files; one made of a GGUF file has none."""
    checkpoint = official()
    for name in ("tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja", "NOTICE"):
        (checkpoint / name).write_text("{}")
    convert(checkpoint, folder / "mlx", "f16")
    assert len(list((folder / "mlx").iterdir())) == 9
    convert(source, folder / "mlx", "q8_0", force=True)
    assert sorted(p.name for p in (folder / "mlx").iterdir()) == [
        "codec.safetensors",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    (folder / "mlx" / "LICENSES").mkdir()
    with pytest.raises(S2Error, match="holds LICENSES, .* move that away"):
        convert(source, folder / "mlx", "q8_0", force=True)
    assert sorted(p.name for p in folder.iterdir()) == ["mlx", "official-F32", "source.gguf"]


def test_a_value_that_our_own_section_overrules(official, folder):
    source = official()
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(
        json.dumps(config | {"semantic_end_token_id": {}, "s2mlx": {"keys": {"fish_speech.semantic_end_id": 1267}}})
    )
    convert(source, folder / "mlx", "f16")
    assert json.loads((folder / "mlx" / "config.json").read_text())["semantic_end_token_id"] == 1267


def test_metadata_that_no_config_json_can_be_read_with(official, folder, monkeypatch):
    source = official()
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config)[:-1] + f', "x": {"[" * 5000 + "]" * 5000}}}')
    with pytest.raises(ModelError, match="nested too deeply|not a JSON object"):  # Pythons differ: 1000 or more
        convert(source, folder / "mlx", "f16")
    (source / "config.json").write_text(json.dumps(config))
    monkeypatch.setattr(as_folder, "MAX_JSON", 1000)
    with pytest.raises(ModelError, match="more than is read"):
        convert(source, folder / "mlx", "f16")
    assert not (folder / "mlx").exists()


def test_an_interrupt_leaves_no_folder(source, folder):
    def interrupt(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(source, folder / "mlx", on_progress=interrupt)
    assert [p.name for p in folder.iterdir()] == ["source.gguf"]


def test_a_folder_already_of_the_type(source, folder):
    convert(source, folder / "mlx")
    with pytest.raises(UsageError, match="is q8_0 already"):
        convert(folder / "mlx", folder / "again")


# --- folders that others packed ----------------------------------------------------------------------------------


def packed(source, bits, group, dtype=mx.bfloat16, skip=("embeddings", "fast_", "norm")):
    """The official folder as MLX's tools quantize it: names under `model.`, some modules left as they are."""
    weights = {}
    for name, value in mx.load(str(source / "model.safetensors")).items():
        name = (
            name.replace("audio_decoder.codebook", "codebook")
            .replace("audio_decoder.", "fast_")
            .replace("text_model.model.", "")
        )
        if any(part in name for part in skip):
            weights["model." + name] = value.astype(dtype)
            continue
        for end, part in zip(("weight", "scales", "biases"), mx.quantize(value.astype(dtype), group, bits)):
            weights["model." + name.replace("weight", end)] = part
    config = json.loads((source / "config.json").read_text())
    config["quantization"] = config["quantization_config"] = {"group_size": group, "bits": bits, "mode": "affine"}
    (source / "config.json").write_text(json.dumps(config))
    mx.save_safetensors(str(source / "model.safetensors"), weights)
    return weights


@pytest.mark.parametrize(
    "bits, group, dtype, kind",
    [
        (4, 64, mx.bfloat16, T.Q4_1),
        (4, 32, mx.float16, T.Q4_1),
        (5, 64, mx.float16, T.Q5_1),
        (2, 64, mx.bfloat16, T.Q4_1),
        (3, 32, mx.float16, T.Q4_1),
        (8, 64, mx.bfloat16, T.F16),
        (8, 32, mx.float16, T.F16),
        (6, 64, mx.bfloat16, T.F16),
        (4, 64, mx.float32, T.F16),
    ],
)
def test_folders_of_other_tools(official, bits, group, dtype, kind):
    source = official()
    weights = packed(source, bits, group, dtype)
    parts = [weights["model." + W1.replace("weight", end)] for end in ("weight", "scales", "biases")]
    expected = mx.dequantize(parts[0], *(a.astype(mx.float32) for a in parts[1:]), group, bits)
    with open_checkpoint(source) as ours:
        tensor = ours.tensors[W1]
        assert tensor.type is kind and tensor.nbytes == tensor.data.nbytes
        tolerance = 2**-11 if kind is T.F16 else 0
        assert np.allclose(np.array(tensor.dense()), np.array(expected), rtol=tolerance, atol=tolerance * 1e-3)


def test_converting_a_folder_of_other_tools(official, folder):
    source = official()
    packed(source, 4, 64)
    made = convert(source, folder / "made.gguf", "q8_0")
    with opened(source) as ours, opened(made.path) as theirs:
        assert ours.tensors[W1].type is theirs.tensors[W1].type is T.Q4_1
        assert ours.tensors[W1].data.tobytes() == theirs.tensors[W1].data.tobytes()
        assert theirs.tensors["embeddings.weight"].type is T.Q8_0
    assert any("stay so: q8_0 would only be larger" in note for note in made.plan.notes)
    warnings = convert(source, folder / "again.gguf", "q4_0").plan.warnings
    assert any("4.5 bits a weight" in warning for warning in warnings)


@pytest.mark.parametrize("type", ["q8_0", "q4_0"])
def test_packed_tensors_are_opened_a_few_rows_at_a_time(official, folder, monkeypatch, type):
    """Copied as they are, or converted: never more than a piece, and what was read is let go; the same bytes."""
    source = official()
    packed(source, 4, 64)
    convert(source, folder / "one.gguf", type)
    opened_rows, released = [], []
    blocks = Packed._blocks
    monkeypatch.setattr(
        Packed, "_blocks", lambda p, words, *rest: opened_rows.append(len(words)) or blocks(p, words, *rest)
    )
    monkeypatch.setattr(Packed, "data", property(lambda p: pytest.fail("opened as a whole")))
    monkeypatch.setattr(Packed, "release", lambda p, *part: released.append((p, part)))
    monkeypatch.setattr(encode, "PIECE", 8 * 64)
    monkeypatch.setattr(encode, "COPY", 8 * 40)  # Q4_1: 40 bytes for a row of 64
    monkeypatch.setattr(encode, "HELD", 16 * 40)
    convert(source, folder / "two.gguf", type)
    assert (folder / "one.gguf").read_bytes() == (folder / "two.gguf").read_bytes()
    assert max(opened_rows) <= 8
    first = [part for p, part in released if p is released[0][0]]
    assert first[:2] == [(0, 640), (640, 1280)] and first[-1] == ()


def test_some_rows_of_a_packed_tensor(official, monkeypatch):
    source = official()
    packed(source, 4, 64)
    released = []
    with open_checkpoint(source) as ours:
        region, row = ours.tensors[W1].region, ours.tensors[W1].data.shape[1]
        assert np.array_equal(ours.tensors[W1].rows[3:10], ours.tensors[W1].data[3:10])
        monkeypatch.setattr(Region, "release", lambda region, begin, end: released.append((begin, end)))
        region.release(row * 3 - 1, row * 10 + 1)
        region.release()
    # of 128 rows: 32 bytes of words, one group with a bfloat16 scale and bias
    assert released == [(96, 320), (6, 20), (6, 20), (0, 4096), (0, 256), (0, 256)]


BROKEN = {
    "no quantization": (lambda c, w: c.pop("quantization") and c.pop("quantization_config"), "is packed, but"),
    "other bits": (lambda c, w: c["quantization"].update(bits=8), "does not fit its scales"),
    "other groups": (lambda c, w: c["quantization"].update(group_size=32), "does not fit its scales"),
    "bits that no tool has": (lambda c, w: c["quantization"].update(bits=7), "quantized in a way"),
    "groups that no tool has": (lambda c, w: c["quantization"].update(group_size=[64]), "quantized in a way"),
    "bits with a point": (lambda c, w: c["quantization"].update(bits=4.0), "quantized in a way"),
    "groups with a point": (lambda c, w: c["quantization"].update(group_size=64.0), "quantized in a way"),
    "another mode": (lambda c, w: c["quantization"].update(mode="mxfp4"), "quantized in a way"),
    "quantization as text": (lambda c, w: c.update(quantization="q4"), "quantized in a way"),
    "no biases": (lambda c, w: w.pop("model." + W1.replace("weight", "biases")), "biases or the quantization"),
    "no words": (lambda c, w: w.pop("model." + W1), "is packed, but"),
    "floats for words": (lambda c, w: w.update({"model." + W1: mx.zeros((128, 8))}), "does not fit its scales"),
    "scales of another shape": (
        lambda c, w: w.update({"model." + W1.replace("weight", "scales"): mx.zeros((128,))}),
        "does not fit its scales",
    ),
    "the same tensor twice": (lambda c, w: w.update({"text_model.model.norm.weight": mx.ones(64)}), "another name too"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_folders_that_cannot_be(official, case):
    source = official()
    weights = packed(source, 4, 64)
    config = json.loads((source / "config.json").read_text())
    change, reason = BROKEN[case]
    change(config, weights)
    (source / "config.json").write_text(json.dumps(config))
    mx.save_safetensors(str(source / "model.safetensors"), weights)
    with pytest.raises(ModelError, match=reason) as caught:
        open_checkpoint(source)
    assert "\n" not in str(caught.value)


def test_a_lie_about_biases(official):
    source = official()
    packed(source, 8, 64, mx.float16)
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {"s2mlx": {"symmetric": True}}))
    with open_checkpoint(source) as ours, pytest.raises(ModelError, match="biases that are not -128 scales"):
        ours.tensors[W1].dense()


def test_scales_beyond_float16(official):
    source = official()
    weights = packed(source, 4, 64)
    name = "model." + W1.replace("weight", "scales")
    weights[name] = weights[name] * 1e9
    mx.save_safetensors(str(source / "model.safetensors"), weights)
    with open_checkpoint(source) as ours, pytest.raises(ModelError, match="larger than float16"):
        ours.tensors[W1].dense()


@pytest.mark.parametrize(
    "own",
    [3, {"keys": 3}, {"keys": {"fish-speech.vocab_size": "x"}}, {"keys": {"fish_speech.codec.encoder_rates": [[1]]}}],
)
def test_a_section_of_ours_that_is_not(official, own):
    """It opens as if nothing were there, or one error comes."""
    source = official()
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {"s2mlx": own}))
    try:
        open_checkpoint(source)
    except ModelError as fault:
        assert "\n" not in str(fault)
