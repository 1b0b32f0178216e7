"""Whole model files: sizes from metadata and tensors, and every way in which the two can disagree."""

import dataclasses
import random
import struct

import numpy as np
import pytest
from gguf import quants
from gguf.constants import GGMLQuantizationType as T

from s2mlx.config import CodecConfig, ModelConfig
from s2mlx.errors import ModelError
from s2mlx.options import Sampling
from s2mlx.weights import compiled, open_checkpoint
from s2mlx.weights.tensor import Storage
from tests.synthetic import make_model, model_parts

from .gguf_maker import gguf_bytes

S, R, C = "fish-speech.", "fish_speech.", "fish_speech.codec."


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.gguf"


def config(path, **options):
    make_model(path, **options)
    with open_checkpoint(path) as checkpoint:
        return checkpoint.config


def refused(path, reason, **options):
    make_model(path, **options)
    with pytest.raises(ModelError, match=reason) as caught:
        open_checkpoint(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_every_size_comes_from_the_file(path):
    c = config(
        path,
        layers=3,
        fast_layers=1,
        dim=96,
        heads=6,
        kv_heads=3,
        head_dim=20,
        fast_dim=64,
        codebooks=4,
        codebook_size=128,
        vocab=1300,
        context=99,
        qk_norm=False,
        fast_qk_norm=True,
        scale=False,
        norm_fast_input=False,
    )
    assert (c.slow.dim, c.slow.layers, c.slow.heads, c.slow.kv_heads, c.slow.head_dim) == (96, 3, 6, 3, 20)
    assert (c.fast.dim, c.fast.layers, c.fast.head_dim, c.fast.ffn_dim) == (64, 1, 20, 192)
    assert (c.slow.qk_norm, c.fast.qk_norm) == (False, True)
    assert not c.scale_codebook_embeddings and not c.norm_fast_input
    assert (c.num_codebooks, c.codebook_size, c.codec.residual_codebooks, c.fast_project_in) == (4, 128, 3, True)
    assert (c.vocab_size, c.context_length, c.semantic_begin, c.semantic_end) == (1300, 99, 1012, 1139)
    assert c.name == "Tiny synthetic S2" and c.sampling == Sampling()


def test_the_codec_counts_its_layers(path):
    c = config(path).codec
    assert c.encoder_transformer_layers == (0, 0, 0, 2) and c.rvq.layers == 2 and c.frame_samples == 2048
    assert (c.encoder_dim, c.decoder_dim, c.latent_dim, c.residual_codebook_size) == (2, 16, 32, 64)
    assert (c.rvq.window, c.rvq.heads, c.rvq.kv_heads, c.rvq.head_dim, c.rvq.ffn_dim) == (16, 2, 2, 16, 64)
    lies = {C + "rvq_transformer.n_layer": 7, C + "encoder_transformer_layers": (0, 0, 0, 9)}
    assert config(path, metadata=lies).codec == c


def test_head_dim_is_what_the_weights_have(path):
    lie = {"fish_speech.fast_head_dim": 80}
    assert config(path, metadata=lie, fast_qk_norm=False).fast.head_dim == 16
    assert config(path, metadata=lie, fast_qk_norm=True).fast.head_dim == 16


def test_missing_keys_take_the_values_of_s2_pro(path):
    kept = {
        "fish_speech.scale_codebook_embeddings": None,
        "fish_speech.norm_fastlayer_input": None,
        "fish_speech.attention_qk_norm": None,
        "fish_speech.fast_attention_qk_norm": None,
        "fish-speech.rope.freq_base": None,
        "fish-speech.context_length": None,
        "general.name": None,
        "fish_speech.codec.sample_rate": None,
        "fish_speech.codec.encoder_rates": None,
    }
    c = config(path, metadata=kept)
    assert c.scale_codebook_embeddings and c.norm_fast_input and c.slow.qk_norm and not c.fast.qk_norm
    assert c.slow.rope_base == 1e6 and c.context_length == 32768 and c.name == ModelConfig().name
    assert c.codec.sample_rate == 44100 and c.codec.encoder_rates == CodecConfig().encoder_rates


def test_sampling_defaults_of_the_model(path):
    keys = {"s2mlx.sampling.temperature": 0.5, "s2mlx.sampling.top_p": 0.25, "s2mlx.sampling.top_k": 7}
    assert config(path, metadata=keys).sampling == Sampling(0.5, 0.25, 7)
    refused(path, "sampling", metadata={"s2mlx.sampling.top_p": 1.5})


def test_a_codec_alone_and_a_model_without_one(path):
    make_model(path, ar=False, codebooks=4)
    with open_checkpoint(path) as checkpoint:
        assert checkpoint.config.slow is None and checkpoint.config.fast is None
        assert checkpoint.config.num_codebooks == 4
        assert all(name.startswith("c.") for name in checkpoint.tensors)
    assert config(path, codec=False).codec is None


@pytest.mark.parametrize(
    "kind", ["f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"]
)
def test_every_type_opens_with_exact_values(path, kind):
    make_model(path, type=kind, codec=False, layers=1, fast_layers=1)
    with open_checkpoint(path) as checkpoint:
        tensor = checkpoint.tensors["layers.0.feed_forward.w2.weight"]
        assert tensor.type is T[kind.upper()]
        expected = np.asarray(quants.dequantize(tensor.data, tensor.type), np.float32)
        assert np.array_equal(np.array(tensor.dense()), expected)


def test_shapes_are_as_pytorch_has_them(path):
    """ggml's tools drop leading dimensions of one; the networks see them all the same."""
    metadata, tensors = model_parts()
    trimmed = [
        (name, shape[1:] if shape[0] == 1 and len(shape) > 1 else shape, kind, body)
        for name, shape, kind, body in tensors
    ]
    assert trimmed != tensors
    path.write_bytes(gguf_bytes(metadata, trimmed))
    with open_checkpoint(path) as checkpoint:
        assert checkpoint.tensors["c.decoder.model.6.conv.weight"].shape == (1, 1, 7)
        assert checkpoint.tensors["c.encoder.block.1.block.3.alpha"].shape == (1, 2, 1)
        assert checkpoint.tensors["c.encoder.block.1.block.3.alpha"].dense().shape == (1, 2, 1)


def test_a_projection_keeps_its_bias(path):
    metadata, tensors = model_parts(project_in=True)
    path.write_bytes(gguf_bytes(metadata, [*tensors, ("fast_project_in.bias", (64,), T.F32, bytes(256))]))
    with open_checkpoint(path) as checkpoint:
        assert checkpoint.tensors["fast_project_in.bias"].shape == (64,)


REFUSED = {
    "another architecture": ({"general.architecture": "llama"}, "'llama'"),
    "architecture as list": ({"general.architecture": (1, 2)}, "architecture"),
    "name as number": ({"general.name": 3}, "general.name"),
    "no architecture": ({"general.architecture": None}, "no architecture"),
    "more layers than tensors": ({S + "block_count": 4000}, "4002 layers"),
    "one layer too many": ({S + "block_count": 3}, "'layers.2.attention_norm.weight' is missing"),
    "layers without limit": ({S + "block_count": 2**32 - 1}, "block_count"),
    "width": ({S + "embedding_length": 60}, "'embeddings.weight' has shape"),
    "width 0": ({S + "embedding_length": 0}, "embedding_length"),
    "width as text": ({S + "embedding_length": "64"}, "embedding_length.*whole number"),
    "width as truth": ({S + "embedding_length": True}, "embedding_length.*whole number"),
    "width as list": ({S + "embedding_length": (64,)}, "embedding_length.*whole number"),
    "heads": ({S + "attention.head_count": 3}, "heads"),
    "head_dim odd": (
        {S + "attention.head_count": 64, S + "attention.head_count_kv": 32, R + "attention_qk_norm": False},
        "head_dim 1 ",
    ),
    "rope base": ({S + "rope.freq_base": -1.0}, "freq_base"),
    "rope base infinite": ({S + "rope.freq_base": float("inf")}, "freq_base"),
    "eps not a number": ({S + "attention.layer_norm_rms_epsilon": float("nan")}, "epsilon"),
    "flag": ({R + "attention_qk_norm": 3}, "attention_qk_norm"),
    "semantic ids outside": ({R + "semantic_begin_id": 5000, R + "semantic_end_id": 5255}, "5000 to 5255"),
    "semantic ids reversed": ({R + "semantic_end_id": 5}, "1012 to 5"),
    "more semantic ids than codes": ({R + "semantic_begin_id": 1000}, "268 semantic ids"),
    "codebooks": ({R + "num_codebooks": 9}, "9 codebooks, its codec 10"),
    "rates": ({C + "encoder_rates": ()}, "encoder_rates"),
    "rates as number": ({C + "encoder_rates": 2}, "encoder_rates"),
    "rates of 0": ({C + "decoder_rates": (8, 8, 4, 0)}, "decoder_rates"),
    "other rates": ({C + "decoder_rates": (8, 8, 2, 4)}, "'c.decoder.model.3.block.1.conv.weight'"),
    "residual books": ({C + "quantizer_residual_codebooks": 300}, "residual_codebooks"),
    "codec width": ({C + "latent_dim": 16}, "latent_dim"),
    "head_dim of the codec": ({C + "transformer.head_dim": 1 << 20}, "1 to 1024 is possible"),
    "attention biases": ({R + "fast_attention_qkv_bias": True}, "bias"),
    "announced projection": ({R + "fast_project_in": True}, "'fast_project_in.weight'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_sizes_that_cannot_be(path, case):
    keys, reason = REFUSED[case]
    refused(path, reason, metadata=keys)


@pytest.mark.parametrize(
    "name",
    [
        "embeddings.weight",
        "layers.1.feed_forward.w3.weight",
        "layers.0.attention.q_norm.weight",
        "fast_output.weight",
        "norm.weight",
        "c.quantizer.pre_module.norm.weight",
        "c.quantizer.quantizer.quantizers.8.codebook.weight",
        "c.decoder.model.0.conv.bias",
    ],
)
def test_a_missing_tensor_is_named(path, name):
    refused(path, f"'{name}' is missing", drop=[name])


def test_networks_of_unlike_width_need_a_projection(path):
    refused(
        path,
        "'fast_project_in.weight' is missing",
        fast_dim=32,
        drop=["fast_project_in.weight"],
        metadata={R + "fast_project_in": False},
    )


def test_an_output_head_of_its_own_is_refused(path):
    metadata, tensors = model_parts(metadata={R + "tie_word_embeddings": False})
    path.write_bytes(gguf_bytes(metadata, tensors))
    open_checkpoint(path)  # the flag alone means nothing
    path.write_bytes(gguf_bytes(metadata, [*tensors, ("output.weight", (1, 64), T.F32, bytes(256))]))
    with pytest.raises(ModelError, match="'output.weight'"):
        open_checkpoint(path)


def test_unlike_codec_modules(path):
    refused(
        path,
        "pre_module has 1 layers but its post_module 2",
        drop=["c.quantizer.pre_module.layers.1.attention.wqkv.weight"],
    )


def test_a_head_dim_that_no_tensor_pays_for(path):
    """Without layers only the key tells it, and rotary tables of it would take gigabytes."""
    names = [name for name, *_ in model_parts()[1] if "pre_module.layers" in name or "post_module.layers" in name]
    refused(path, "head_dim 16777216", drop=names, metadata={C + "rvq_transformer.head_dim": 1 << 24})


def test_a_type_nobody_here_decodes(path):
    metadata, tensors = model_parts()
    changed = [(n, s, T.I8, bytes(64)) if n == "norm.weight" else (n, s, k, b) for n, s, k, b in tensors]
    path.write_bytes(gguf_bytes(metadata, changed))
    with pytest.raises(ModelError, match="'norm.weight' has the type I8"):
        open_checkpoint(path)


@pytest.mark.parametrize("prefix", ["model_weights/", "codec_weights/"])
def test_the_dialect_of_audio_cpp_is_recognised(path, prefix):
    path.write_bytes(gguf_bytes({}, [(prefix + "text_model.norm.weight", (4,), T.F32, bytes(16))]))
    with pytest.raises(ModelError, match=f"'{prefix}text_model.norm.weight'.*audio.cpp"):
        open_checkpoint(path)


def test_no_such_file(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        open_checkpoint(tmp_path / "nowhere.gguf")


def test_a_model_larger_than_the_memory_allowed(path):
    make_model(path)
    with pytest.raises(ModelError, match="MB of memory, 1.0 kB are allowed"):
        open_checkpoint(path, memory_limit=1000)


def test_small_models_are_kept_dense(path, monkeypatch):
    monkeypatch.setattr(compiled, "available", lambda: False)
    make_model(path, type="q4_k")
    with open_checkpoint(path) as checkpoint:
        form = lambda name: checkpoint.tensors[name].storage
        assert form("layers.0.feed_forward.w1.weight") is form("fast_output.weight") is Storage.DENSE
        assert form("c.quantizer.pre_module.layers.0.attention.wo.weight") is Storage.DENSE
        assert form("embeddings.weight") is form("fast_embeddings.weight") is Storage.TABLE


def test_random_changes_never_escape(path):
    """Bits flipped and fields overwritten all over the header of a whole model: it opens, or one ModelError comes."""
    data = make_model(path, layers=1, fast_layers=1, dim=32, heads=2, kv_heads=1).read_bytes()
    end = data.index(b"c.decoder.model.6.conv.bias") + 60
    rng = random.Random(7)
    opened = 0
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(end)
            number = struct.pack("<Q", rng.choice([0, 1, 2**32 - 1, 2**63]))
            patch = rng.choice([bytes([rng.randrange(256)]), number])
            changed[at : at + len(patch)] = patch
        path.write_bytes(changed)
        try:
            with open_checkpoint(path) as checkpoint:
                dataclasses.asdict(checkpoint.config)
                opened += 1
        except ModelError as error:
            assert "\n" not in str(error)
    assert opened


def test_the_bundled_model_says_what_it_was_trained_for():
    """Under the keys that its file has, and that files already given out have."""
    from s2mlx.weights.catalog import DEMO, find_model

    with open_checkpoint(find_model(DEMO).path) as checkpoint:
        c = checkpoint.config
    assert (c.pass_seconds, c.reference_seconds, c.dialogue) == (7.0, 20.0, False)
    assert (c.languages, c.tags) == (("en",), False)
    assert c.sampling.temperature == pytest.approx(0.3) and c.sampling.top_k == 10


def test_what_a_model_speaks(path):
    usual = config(path)
    assert usual.tags and {"en", "zh", "ja", "de", "fo"} < set(usual.languages) and len(usual.languages) == 83
    said = config(path, metadata={"s2mlx.speech.languages": "en  yue", "s2mlx.speech.tags": False})
    assert said.languages == ("en", "yue") and not said.tags


@pytest.mark.parametrize("codes", ["", " ", "EN", "english", "en,de", "é"])
def test_languages_that_are_no_codes(path, codes):
    refused(path, "no ISO 639 codes", metadata={"s2mlx.speech.languages": codes})
