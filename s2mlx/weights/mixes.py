"""What a file "of a type" is made of: one type for all matrices, or a mix that gives some of them more bits."""

from __future__ import annotations

import re

from gguf.constants import GGMLQuantizationType as T

from ..config import ModelConfig

MIXES = {"q4_k_m": (T.Q4_K, T.Q5_K), "q5_k_m": (T.Q5_K, T.Q6_K)}
TYPES = ("f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", *MIXES)
_W2 = re.compile(r"(fast_)?layers\.(\d+)\.feed_forward\.w2\.")


def type_of(name: str, type: str, config: ModelConfig) -> T:
    """The type of a matrix in a file of `type`: one type (`q8_0`, `f16`, ...) for all, or a mix with more bits for
    attention, w2 of half of the layers, and the outputs."""
    if type not in MIXES:
        return T[type.upper()]
    base, more = MIXES[type]
    if "wqkv" in name:
        return more
    if found := _W2.match(name):
        slow, fast = config.transformers
        return T.Q6_K if _more_bits(int(found[2]), (fast if found[1] else slow).layers) else base
    return T.Q6_K if name in ("embeddings.weight", "fast_output.weight") else base


def _more_bits(layer: int, layers: int) -> bool:
    """The first and the last eighth of the layers and every third between them, as in llama.cpp's files."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2
