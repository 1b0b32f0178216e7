"""Reference numbers: those in the repository, and the full set where it lies beside the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from s2mlx.config import ModelConfig
from s2mlx.networks.load import load_model

GOLDEN = Path(__file__).parent / "golden"
SHARED = Path(__file__).parents[2] / "shared"
FULL = SHARED / "golden"
TYPES = ["q4_k_m", "f16", "q8_0", "q6_k", "q5_k", "q5_k_m", "q4_k", "q3_k", "q2_k"]
TINY = ModelConfig(name="tiny", vocab_size=1280, codebook_size=256, semantic_begin=1012, semantic_end=1267)
PROMPTS = ["text_only", "text_only2", "ref"]


def path(name: str) -> Path:
    for folder in (GOLDEN, FULL):
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"{name} is in the full golden set, which is not here")


@cache
def arrays(name: str):
    return dict(np.load(path(name)))


@cache
def inputs():
    return arrays("inputs.npz")


@cache
def model(kind: str = "q4_k_m", compat: str | None = "s2cpp"):
    """A golden model; one instance per type and numerics for the whole run."""
    return load_model(path(f"tiny-{kind}.gguf"), GOLDEN / "tokenizer.json", compat)


def rms(a, b) -> float:
    return float(np.sqrt(np.mean(np.square(np.array(a, dtype=np.float64) - np.array(b, dtype=np.float64)))))
