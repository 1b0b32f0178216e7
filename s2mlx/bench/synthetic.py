"""Models of any size with random weights: right in every name, shape and key, so that they load, speak and take the
time of real ones. What they say is noise.

`write_model(folder, ...)` writes model.gguf and the tokenizer.json that belongs to it. Rows of large matrices repeat,
which changes no time and makes writing fast.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from ..config import SLOW_AR, ModelConfig
from ..convert.as_gguf import type_keys
from ..convert.gguf_writer import header, padding, value
from ..weights.keys import published_keys
from ..weights.mixes import type_of
from . import inventory
from .inventory import RandomTensor

T = GGMLQuantizationType
_POOL = 1 << 20  # random weights that are drawn for one matrix; its rows repeat them
# Bytes of a block that hold float16 numbers: the scale and, less than nothing or more than it, the minimum.
_HALVES = {
    T.Q4_0: (0, None),
    T.Q4_1: (0, 2),
    T.Q5_0: (0, None),
    T.Q5_1: (0, 2),
    T.Q8_0: (0, None),
    T.Q2_K: (80, 82),
    T.Q3_K: (108, None),
    T.Q4_K: (0, 2),
    T.Q5_K: (0, 2),
    T.Q6_K: (208, None),
}
# minimum / scale that makes random blocks average to zero
_CENTRE = {T.Q4_1: -7.5, T.Q5_1: -15.5, T.Q2_K: 1.5, T.Q4_K: 7.5, T.Q5_K: 15.5}


@dataclass(frozen=True)
class Shape:
    """What a synthetic model is like: its sizes, and the type of its matrices (see `type_of`)."""

    config: ModelConfig
    type: str = "q8_0"


def full(layers: int = 2, type: str = "q8_0") -> Shape:
    """S2 Pro's widths, vocabulary, Fast-AR and codec, with few layers in the Slow-AR."""
    name = f"synthetic S2 Pro of {layers} layers, {type}"
    return Shape(ModelConfig(name=name, slow=replace(SLOW_AR, layers=layers)), type)


def tiny(type: str = "q8_0") -> Shape:
    """A model of a few megabytes."""
    return Shape(_narrow(ModelConfig(), f"synthetic tiny model, {type}", layers=2, fast_layers=2, rvq_layers=2), type)


def skeleton(config: ModelConfig, type: str = "q8_0") -> Shape:
    """All layers of `config` at tiny widths: its graphs have the nodes of the real model's."""
    (slow, fast), rvq = config.transformers, config.codec.rvq.layers if config.codec else 2
    return Shape(
        _narrow(
            config,
            f"skeleton of {config.name}",
            layers=slow.layers,
            fast_layers=fast.layers,
            rvq_layers=rvq,
        ),
        type,
    )


def _narrow(config: ModelConfig, name: str, *, layers: int, fast_layers: int, rvq_layers: int) -> ModelConfig:
    """The structure of `config` in a vocabulary of 1280 ids, widths of 256 (what K-quants take) and a codec of 32."""
    slow, fast = (
        replace(sizes, layers=n, dim=256, ffn_dim=512, heads=4, kv_heads=2, head_dim=64)
        for sizes, n in zip(config.transformers, (layers, fast_layers))
    )
    codec = config.codec and replace(
        config.codec,
        encoder_dim=2,
        decoder_dim=1 << len(config.codec.decoder_rates),
        latent_dim=32,
        codebook_dim=8,
        semantic_codebook_size=256,
        residual_codebook_size=64,
        encoder_transformer_layers=(0, 0, 0, 2),
        transformer_head_dim=16,
        rvq=replace(config.codec.rvq, dim=32, ffn_dim=64, heads=2, kv_heads=2, head_dim=16, layers=rvq_layers),
    )
    return replace(
        config,
        name=name,
        slow=slow,
        fast=fast,
        codec=codec,
        vocab_size=1280,
        context_length=1024,
        codebook_size=256,
        semantic_begin=1012,
        semantic_end=1267,
        fast_project_in=False,
    )


def write_model(folder, shape: Shape, seed: int = 0) -> Path:
    """Write the model into an existing folder; the path of its GGUF file."""
    path = Path(folder) / "model.gguf"
    config, rng = shape.config, np.random.default_rng(seed)
    parts = [
        (part, type_of(part.name, shape.type, config) if part.matrix else T.F16) for part in inventory.tensors(config)
    ]
    sizes = [part.size // GGML_QUANT_SIZES[kind][0] * GGML_QUANT_SIZES[kind][1] for part, kind in parts]
    tensors = [(part.name, part.shape, kind, size) for (part, kind), size in zip(parts, sizes)]
    with open(path, "wb") as file:
        file.write(header(_keys(shape, {kind for _, kind in parts}), tensors))
        for (part, kind), size in zip(parts, sizes):
            file.write((_matrix(rng, part, kind) if part.matrix else _small(rng, part)).data)
            file.write(bytes(padding(size)))
    (path.parent / "tokenizer.json").write_text(json.dumps(inventory.tokenizer(config)), encoding="utf-8")
    return path


def _keys(shape: Shape, kinds: set[T]) -> dict[str, bytes]:
    """Those of a published file of these sizes, without what is said there of its author and licence."""
    keys = published_keys(shape.config, audio_pad=shape.config.semantic_begin - 1)
    words = [key for key in keys if key.startswith("general.") and key not in ("general.architecture", "general.name")]
    return {key: value(x) for key, x in keys.items() if key not in words} | type_keys(shape.type, kinds)


def _matrix(rng, part: RandomTensor, kind: T) -> np.ndarray:
    """Random weights as bytes of `kind`, uint8 [rows, row_bytes], from a pool of rows that repeats."""
    rows, columns = part.shape
    pool = min(rows, max(1, _POOL // columns))
    if kind not in _HALVES:
        drawn = rng.standard_normal((pool, columns), np.float32) * np.float32(part.std)
        return np.resize(gguf.quants.quantize(drawn, kind).view(np.uint8), (rows, columns * GGML_QUANT_SIZES[kind][1]))
    block, size = GGML_QUANT_SIZES[kind]
    raw = rng.integers(0, 256, (pool, columns // block, size), np.uint8)
    _set_scales(raw, kind, 1.0)
    spread = gguf.quants.dequantize(raw[:1].reshape(1, -1), kind).std()
    _set_scales(raw, kind, part.std / spread)
    return np.resize(raw, (rows, columns // block * size))


def _small(rng, part: RandomTensor) -> np.ndarray:
    drawn = rng.standard_normal(min(part.size, _POOL), np.float32) * np.float32(part.std) + np.float32(part.mean)
    return np.resize(drawn.astype(np.float16), part.shape)


def _set_scales(raw: np.ndarray, kind: T, scale: float) -> None:
    at, minimum = _HALVES[kind]
    raw[..., at : at + 2] = np.array([scale], np.float16).view(np.uint8)
    if minimum is not None:
        raw[..., minimum : minimum + 2] = np.array([scale * _CENTRE[kind]], np.float16).view(np.uint8)
