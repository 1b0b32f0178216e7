"""Small models to convert, each with the tokenizer that belongs to it."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from s2mlx.weights import open_checkpoint
from tests import synthetic
from tests.cli.conftest import run  # noqa: F401 - a fixture
from tests.weights.gguf_maker import gguf_bytes
from tests.weights.test_official import CONFIG, official_name, safetensors, torch_file

TOKENIZER = Path(__file__).parents[1] / "golden" / "tokenizer.json"
CODEC_SIZES = {"LATENT": 64, "HEAD": 64, "ENC": 4}  # heads of 64, as the official checkpoint's


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in one with the tokenizer of `tests.synthetic` models; no variable of the developer's."""
    monkeypatch.delenv("S2MLX_CONVERT_TYPE", raising=False)
    (tmp_path / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    made = tmp_path / "models"
    made.mkdir()
    return made


@pytest.fixture
def small(folder):
    """small(type="f16", ...) -> a GGUF of 256 columns, one layer each, no codec unless asked for."""

    def make(name="source.gguf", **options):
        options = {"layers": 1, "fast_layers": 1, "dim": 256, "codec": False} | options
        return synthetic.make_model(folder / name, **options)

    return make


@pytest.fixture
def official(folder, monkeypatch):
    """official("F32", "F16" or "BF16") -> an official checkpoint folder whose transformers are of that type."""
    for name, size in CODEC_SIZES.items():
        monkeypatch.setattr(synthetic, name, size)

    def make(dtype="F32"):
        path = folder / f"official-{dtype}"
        path.mkdir()
        _, tensors = synthetic.model_parts(type="f32")
        arrays = {
            name: np.frombuffer(body, np.float16 if len(body) == 2 * np.prod(shape) else np.float32)
            .astype(np.float32)
            .reshape(shape)
            for name, shape, _, body in tensors
        }
        language = [(official_name(n), dtype, cast(a, dtype)) for n, a in arrays.items() if not n.startswith("c.")]
        (path / "config.json").write_text(json.dumps(CONFIG | {"audio_pad_token_id": 1011}))
        (path / "model.safetensors").write_bytes(safetensors(language))
        (path / "codec.pth").write_bytes(torch_file({n[2:]: a for n, a in arrays.items() if n.startswith("c.")}))
        (path / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
        (path / "LICENSE.md").write_text("Some licence.")
        return path

    return make


def cast(array, dtype):
    if dtype == "BF16":
        return (array.view(np.uint32) >> 16).astype(np.uint16)
    return array.astype(np.float16 if dtype == "F16" else np.float32)


def opened(path):
    return open_checkpoint(path, memory_limit=1 << 40)


def rounded(config):
    """A config's fields with its numbers as the float32 of a file."""
    plain = lambda x: (
        {k: plain(v) for k, v in x.items()}
        if isinstance(x, dict)
        else float(np.float32(x))
        if isinstance(x, float)
        else x
    )
    return plain(dataclasses.asdict(config))


def changed(path, change):
    """The GGUF at `path` again, its tensors (name, shape, type, bytes) passed through `change`."""
    metadata, tensors = synthetic.model_parts(layers=1, fast_layers=1, codec=False, type="f32")
    path.write_bytes(gguf_bytes(metadata, [change(*tensor) for tensor in tensors]))
    return path
