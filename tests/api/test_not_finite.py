"""Weights that are no numbers: an error that names the model, instead of noise or a voice of zeros."""

import numpy as np
import pytest

import s2mlx
from s2mlx.errors import NotFiniteError
from tests import goldens
from tests.synthetic import model_parts
from tests.weights.gguf_maker import gguf_bytes

VALUES = {"NaN": 0x7E00, "infinity": 0x7C00}  # as float16


def broken(folder, name, value="NaN"):
    """A model with one number of tensor `name` replaced."""
    metadata, tensors = model_parts(layers=1, fast_layers=1)
    found = False
    for i, (tensor, shape, kind, data) in enumerate(tensors):
        if tensor == name:
            data = bytearray(data)
            wide = kind.name == "F32"
            number = np.array([VALUES[value]], np.uint16).view(np.float16)
            data[: 4 if wide else 2] = number.astype(np.float32 if wide else np.float16).tobytes()
            tensors[i], found = (tensor, shape, kind, bytes(data)), True
    assert found, name
    path = folder / "model.gguf"
    path.write_bytes(gguf_bytes(metadata, tensors))
    return s2mlx.load(path, tokenizer=goldens.GOLDEN / "tokenizer.json")


def clip(tts):
    return np.sin(np.arange(tts.sample_rate) / 20).astype(np.float32) / 2


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "name", ["layers.0.attention.wo.weight", "norm.weight", "fast_layers.0.attention.wo.weight", "fast_output.weight"]
)
def test_speech(tmp_path, name, value):
    with broken(tmp_path, name, value) as tts:
        with pytest.raises(NotFiniteError, match="^Tiny synthetic S2 computes values that are no numbers"):
            tts.say("Hello there.", seed=1, max_frames=3)
        voice = s2mlx.Voice(np.zeros((10, 3), np.int32), "words", tts.sample_rate, tts.config.codebook_size)
        with pytest.raises(NotFiniteError):  # several passes together
            tts.say("One sentence is here. " * 40, voice=voice, seed=1, max_frames=3, batch=4)


@pytest.mark.parametrize(
    "name", ["c.decoder.model.0.conv.weight", "c.quantizer.semantic_quantizer.quantizers.0.out_proj.weight"]
)
def test_sound(tmp_path, name):
    with broken(tmp_path, name) as tts:
        with pytest.raises(NotFiniteError, match="^Tiny synthetic S2 "):
            tts.say("Hello there.", seed=1, max_frames=3, min_frames=3)
        with pytest.raises(NotFiniteError):
            tts.codec.decode(np.zeros((10, 3), np.int32))


@pytest.mark.parametrize(
    "name",
    [
        "c.encoder.block.0.conv.weight",
        "c.quantizer.semantic_quantizer.quantizers.0.in_proj.weight",
        "c.quantizer.quantizer.quantizers.8.codebook.weight",
    ],
)
def test_a_voice(tmp_path, name):
    with broken(tmp_path, name) as tts:
        with pytest.raises(NotFiniteError, match="^Tiny synthetic S2 "):
            tts.clone((clip(tts), tts.sample_rate), "words")
        with pytest.raises(NotFiniteError):
            tts.codec.encode(clip(tts))
