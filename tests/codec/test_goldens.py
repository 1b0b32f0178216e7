"""The codec against the official one (float32). Its weights are f16 in every golden file: one set of numbers."""

import numpy as np
import pytest

from tests import goldens

OFFICIAL = "torch_codec.npz"


def official(name):
    try:
        return goldens.arrays(OFFICIAL)[name]
    except KeyError:
        return goldens.arrays("torch_codec_f16.npz")[name]


@pytest.fixture(scope="module")
def codec():
    """fp32 tables as in the reference, but the official padding."""
    from s2mlx.networks.load import load_model

    model = load_model(goldens.path("tiny-q4_k_m.gguf"), goldens.GOLDEN / "tokenizer.json", "s2cpp")
    model.codec.pad_to_hop = False
    return model.codec


@pytest.mark.parametrize("frames", [1, 8, 20, 50])
def test_decode(codec, frames):
    want = official(f"decode_{frames}")
    got = codec.decode(goldens.inputs()["codes_50"][:, :frames])
    assert got.shape == want.shape and np.abs(got - want).max() < 1e-5


def test_codes_outside_a_codebook_are_clamped(codec):
    got = codec.decode(goldens.inputs()["codes_outofrange_8"])
    assert np.abs(got - official("decode_outofrange_8")).max() < 1e-5


@pytest.mark.parametrize("samples", [700, 2048, 40960, 41472, 88200])
def test_encode(codec, samples):
    want = official(f"encode_codes_n{samples}")
    np.testing.assert_array_equal(codec.encode(goldens.inputs()["wave_2s"][:samples]), want)


@pytest.mark.parametrize("samples", [700, 2048, 40960, 41472, 88200])
def test_encode_with_the_padding_of_s2cpp(samples):
    """One code of one frame differs between the two reference engines themselves when both pad alike."""
    want = goldens.arrays("codec_f16.npz")[f"encode_codes_n{samples}"]
    got = goldens.model("q4_k_m").codec.encode(goldens.inputs()["wave_2s"][:samples])
    assert got.shape == want.shape and (got != want).sum() <= 1


def test_bf16_tables_change_few_codes(codec):
    want = goldens.arrays("torch_codec_f16_bf16rope_encode.npz")
    ours = goldens.model("q4_k_m", None).codec
    for name, codes in want.items():
        if name.startswith("encode_codes_n"):
            got = ours.encode(goldens.inputs()["wave_2s"][: int(name.split("_n")[1])])
            assert (got != codes).mean() <= 1e-3
