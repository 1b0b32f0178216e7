"""A model as a GGUF file: keys, names, shapes, types and bytes as published files have them."""

import json
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader, quants
from gguf.constants import GGMLQuantizationType as T

from s2mlx.convert import as_gguf, convert
from s2mlx.convert import source as convert_source
from s2mlx.errors import ModelError, UsageError
from s2mlx.networks.load import load_model
from s2mlx.weights.gguf_file import GGUFFile
from tests.synthetic import make_model, model_parts
from tests.weights.gguf_maker import gguf_bytes

from .conftest import TOKENIZER, changed, opened, rounded

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS.parent.parent / "shared" / "golden"
HERE = TESTS / "golden" / "tiny-q4_k_m.gguf"
needs_goldens = pytest.mark.skipif(not GOLDEN.is_dir(), reason="no full golden set here")


def contents(path):
    """name -> (shape, type, bytes)."""
    file = GGUFFile(path)
    return {name: (t.shape, t.type, t.region.data.tobytes()) for name, t in file.tensors.items()}


# --- the official checkpoint -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, type", [("F32", "f32"), ("F16", "f16"), ("BF16", "bf16")])
def test_the_official_checkpoint_to_the_bit(official, folder, dtype, type):
    source = official(dtype)
    convert(source, folder / "made.gguf", type)
    with opened(source) as ours, opened(folder / "made.gguf") as made:
        assert rounded(made.config) == rounded(ours.config)
        assert list(made.tensors) == list(ours.tensors)
        for name, tensor in ours.tensors.items():
            other = made.tensors[name]
            assert other.shape == tensor.shape
            if name.startswith("c."):
                assert other.type is T.F16
                assert np.array_equal(other.data.view(np.float16), tensor.data.view(np.float32).astype(np.float16))
            else:
                assert other.type is tensor.type is T[dtype] and other.data.tobytes() == tensor.data.tobytes()
    assert (folder / "tokenizer.json").read_bytes() == TOKENIZER.read_bytes()


def test_keys_are_those_of_published_files(official, folder):
    """Every key, and of the same kind: other readers ask for a u32, an i32, a float."""
    convert(official("BF16"), folder / "made.gguf", "q8_0")
    made, golden = GGUFFile(folder / "made.gguf").raw_keys, GGUFFile(HERE).raw_keys
    assert set(golden) - set(made) == {"general.basename"} and set(made) <= set(golden)
    assert {key: raw[:4] for key, raw in made.items()} == {key: golden[key][:4] for key in made}
    values = GGUFFile(folder / "made.gguf").metadata
    assert values["fish_speech.audio_pad_token_id"] == 1011 and values["fish_speech.fast_context_length"] == 11
    assert values["fish_speech.codec.hop_length"] == 512 and values["general.file_type"] == 7
    assert values["fish_speech.codec.transformer.n_local_heads"] == -1
    assert values["fish_speech.codec.encoder_transformer_layers"].tolist() == [0, 0, 0, 2]


def test_the_licence_comes_along(official, folder, monkeypatch):
    from s2mlx.weights import keys

    monkeypatch.setattr(keys, "is_s2_pro", lambda config: True)
    convert(official(), folder / "made.gguf")
    values = GGUFFile(folder / "made.gguf").metadata
    assert values["general.license.name"] == "fish-audio-research-license"
    assert "Copyright (c) 39 AI, INC." in values["general.description"]


def test_ggufs_own_reader_reads_it(official, folder):
    source = official()
    convert(source, folder / "made.gguf", "q5_1")
    tensors = {t.name: t for t in GGUFReader(folder / "made.gguf").tensors}
    with opened(source) as ours:
        assert tensors.keys() == ours.tensors.keys()
        for name in ("layers.1.feed_forward.w2.weight", "fast_output.weight", "embeddings.weight"):
            assert tensors[name].tensor_type is T.Q5_1
            expected = quants.quantize(np.array(ours.tensors[name].dense()), T.Q5_1)
            assert np.array_equal(tensors[name].data, expected)


def own_words(source, **words):
    """The folder with keys of its own, as a folder made from a GGUF file has them."""
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {"s2mlx": {"keys": words}}))
    return source


def test_words_that_a_gguf_file_cannot_have(official, folder):
    """Half a character, a name without end, what tells how a file is laid out: left behind. The rest comes along."""
    source = own_words(
        official("BF16"),
        **{
            "general.name": "\ud800 Clara",
            "general.author": "so\udc00mebody",
            "general.\ud800": "x",
            "general.alignment": "x",
            "general.quantization_version": "x",
            "general.file_type": "x",
            "general." + "x" * 2000: "x",
            "general.url": "https://example.com/\u00e4",
        },
    )
    convert(source, folder / "made.gguf", "q8_0")
    with opened(folder / "made.gguf") as made:
        assert made.config.name == "Clara"
    values = GGUFFile(folder / "made.gguf").metadata
    assert values["general.url"] == "https://example.com/\u00e4" and "general.author" not in values
    assert values["general.file_type"] == 7 and all(len(key) < 100 for key in values)


def test_metadata_that_have_no_place_in_a_gguf_file(official, folder, monkeypatch):
    source = official("BF16")
    published_keys = convert_source.published_keys
    for x in (1 << 32, -(1 << 32), 1e300, "\ud800"):
        monkeypatch.setattr(convert_source, "published_keys", lambda *args: published_keys(*args) | {"x": x})
        with pytest.raises(ModelError, match="no place in a GGUF file"):
            convert(source, folder / "made.gguf")
    monkeypatch.setattr(convert_source, "published_keys", published_keys)
    monkeypatch.setattr(as_gguf, "MAX_HEADER", 1000)
    with pytest.raises(ModelError, match="more than a GGUF file is read with"):
        convert(source, folder / "made.gguf")
    assert [p.name for p in folder.iterdir()] == [source.name]


# --- GGUF files --------------------------------------------------------------------------------------------------


@needs_goldens
@pytest.mark.parametrize("type", ["q8_0", "q6_k", "q5_k_m", "q5_k", "q4_k_m", "q4_k", "q3_k", "q2_k"])
def test_types_and_keys_of_the_golden_files(folder, type):
    convert(GOLDEN / "tiny-f16.gguf", folder / "made.gguf", type)
    golden = GOLDEN / f"tiny-{type}.gguf"
    assert GGUFFile(folder / "made.gguf").raw_keys == GGUFFile(golden).raw_keys
    made, theirs = contents(folder / "made.gguf"), contents(golden)
    assert {name: kind for name, (_, kind, _) in made.items()} == {name: kind for name, (_, kind, _) in theirs.items()}
    for name, (_, kind, data) in made.items():
        if kind in (T.F16, T.Q8_0):
            assert data == theirs[name][2]


@needs_goldens
def test_what_is_made_can_be_loaded(folder):
    made = convert(GOLDEN / "tiny-f16.gguf", folder / "made.gguf", "q4_k_m")
    assert made.nbytes == made.path.stat().st_size
    assert load_model(made.path, compat="s2cpp").config.slow.layers == 4


@pytest.mark.parametrize(
    "type",
    [
        "f32",
        "f16",
        "bf16",
        "q8_0",
        "q5_1",
        "q5_0",
        "q4_1",
        "q4_0",
        "q6_k",
        "q5_k_m",
        "q5_k",
        "q4_k_m",
        "q4_k",
        "q3_k",
        "q2_k",
    ],
)
def test_every_type(small, folder, type):
    """What is read back differs from the source as little as so many bits allow."""
    source = small(type="f32")
    made = convert(source, folder / "made.gguf", type)
    assert not made.plan.notes
    with opened(source) as ours, opened(made.path) as theirs:
        assert theirs.config == ours.config
        for name, tensor in ours.tensors.items():
            exact, other = np.array(tensor.dense()), theirs.tensors[name]
            rms = np.sqrt(np.mean((np.array(other.dense()) - exact) ** 2)) / np.sqrt(np.mean(exact**2))
            width = other.nbytes * 8 / exact.size
            assert rms <= (0 if other.type is tensor.type else 2.0 ** (1.5 - min(width, 9)))


def test_keys_that_nobody_here_knows_are_kept(folder):
    source = make_model(
        folder / "source.gguf",
        codec=False,
        metadata={
            "general.author": "somebody",
            "x.list": (1, 2),
            "s2mlx.sampling.temperature": 0.5,
            "general.alignment": 32,
            "general.file_type": 1,
        },
    )
    convert(source, folder / "made.gguf")
    before, after = GGUFFile(source).raw_keys, GGUFFile(folder / "made.gguf").raw_keys
    gone = {"general.alignment", "general.file_type"}
    assert {k: v for k, v in before.items() if k not in gone} == {k: after[k] for k in before if k not in gone}
    assert set(after) - set(before) == {"general.quantization_version"}


def test_a_second_loss_is_warned_of(small, folder):
    lost = lambda source, name: [
        warning
        for warning in convert(source, folder / name, "q4_k").plan.warnings
        if "what they lost stays lost" in warning
    ]
    assert not lost(small(type="q8_0"), "one.gguf")
    assert "6.56 bits" in lost(small(type="q6_k"), "two.gguf")[0]


def test_what_has_few_bits_stays_as_it_is(small, folder):
    """A mix asks for more bits in places than the source has there."""
    source = small(type="q5_k")
    made = convert(source, folder / "made.gguf", "q4_k_m")
    before, after = contents(source), contents(made.path)
    for name in ("embeddings.weight", "layers.0.attention.wqkv.weight", "fast_output.weight"):
        assert before[name] == after[name]
    assert after["layers.0.feed_forward.w1.weight"][1] is T.Q4_K
    assert any("q5_k in the source and stay so: q6_k" in note for note in made.plan.notes)


@pytest.mark.parametrize(
    "has, asked", [("q4_k", "q8_0"), ("q4_k", "q4_k"), ("q8_0", "f16"), ("f16", "f16"), ("q5_k", "q5_1")]
)
def test_what_would_gain_nothing_is_refused(small, folder, has, asked):
    with pytest.raises(UsageError, match=f"is {asked} already"):
        convert(small(type=has), folder / "made.gguf", asked)
    assert not (folder / "made.gguf").exists()


@pytest.mark.parametrize(
    "dim, asked, kind",
    [(64, "q4_k", T.Q5_0), (64, "q2_k", T.Q4_0), (64, "q6_k", T.Q8_0), (48, "q8_0", T.F16), (48, "q3_k", T.F16)],
)
def test_rows_that_are_no_whole_number_of_blocks(small, folder, dim, asked, kind):
    made = convert(small(dim=dim), folder / "made.gguf", asked)
    assert contents(made.path)["layers.0.attention.wqkv.weight"][1] is kind
    assert any(f"{dim} weights in a row" in note and kind.name.lower() in note for note in made.plan.notes)


@pytest.mark.parametrize(
    "bad, type, words",
    [
        (np.nan, "q4_k", "not finite"),
        (np.inf, "f16", "not finite"),
        (1e6, "q8_0", "'norm.weight' holds 1e\\+06, too large for f16"),
    ],
)
def test_numbers_that_no_type_holds(folder, bad, type, words):
    spoil = lambda name, shape, kind, body: (
        (name, shape, T.F32, np.full(shape, bad, np.float32).tobytes())
        if name == "norm.weight"
        else (name, shape, kind, body)
    )
    with pytest.raises(ModelError, match=words):
        convert(changed(folder / "bad.gguf", spoil), folder / "made.gguf", type)
    assert sorted(p.name for p in folder.iterdir()) == ["bad.gguf"]


def test_tensors_that_no_network_reads(folder):
    metadata, tensors = model_parts(codec=False)
    source = folder / "source.gguf"
    source.write_bytes(gguf_bytes(metadata, [*tensors, ("freqs", (4,), T.F32, bytes(16))]))
    made = convert(source, folder / "made.gguf")
    assert any("freqs: left out" in note for note in made.plan.notes) and "freqs" not in contents(made.path)
    assert any("no codec" in warning for warning in made.plan.warnings)


def test_a_codec_alone(folder):
    make_model(folder / "codec.gguf", ar=False)
    with pytest.raises(ModelError, match="only a codec"):
        convert(folder / "codec.gguf", folder / "made.gguf")


def test_a_tokenizer_of_another_model_stays_behind(small, folder):
    (folder.parent / "tokenizer.json").write_text("{}")
    made = convert(small(), folder / "made.gguf")
    assert any("no tokenizer comes along" in warning for warning in made.plan.warnings)
    assert not (folder / "tokenizer.json").exists()
