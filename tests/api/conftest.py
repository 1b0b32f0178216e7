"""A loaded model of synthetic weights, and a voice made by it."""

import pytest

import s2mlx
from tests import goldens


@pytest.fixture(scope="module")
def tts():
    with s2mlx.load(goldens.path("tiny-q4_k_m.gguf"), tokenizer=goldens.GOLDEN / "tokenizer.json") as tts:
        yield tts


@pytest.fixture(scope="module")
def voice(tts):
    return tts.clone((goldens.inputs()["wave_2s"], 44100), "Reference words, here.")
