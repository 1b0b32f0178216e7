"""What the tests of words share: golden files, the tiny model's config and tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2mlx import locations
from s2mlx.config import ModelConfig
from s2mlx.tokenizer import load_tokenizer
from s2mlx.voice_library import VoiceLibrary

GOLDEN = Path(__file__).parents[1] / "golden"
SHARED = Path(__file__).parents[3] / "shared"
TINY = ModelConfig(name="tiny", vocab_size=1280, codebook_size=256, semantic_begin=1012, semantic_end=1267)


@pytest.fixture(scope="session")
def tokenizer():
    return load_tokenizer(GOLDEN / "tokenizer.json", TINY)


@pytest.fixture
def library(tmp_path, monkeypatch):
    """An empty library, without the voices that come with the program."""
    monkeypatch.setattr(locations, "assets_dir", lambda: None)
    return VoiceLibrary(tmp_path / "voices")


@pytest.fixture(scope="session")
def real_tokenizer():
    path = SHARED / "data" / "s2_tokenizer" / "tokenizer.json"
    if not path.is_file():
        pytest.skip("S2's own tokenizer is not in this checkout")
    return load_tokenizer(path, ModelConfig())
