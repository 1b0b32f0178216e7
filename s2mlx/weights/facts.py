"""What can be said of a model file without building a network: sizes, types, the memory it needs, its licence."""

from __future__ import annotations

import dataclasses

from ..config import ModelConfig

LICENCE = (
    'S2 Pro is for research and non-commercial use; a product with it shows "Built with Fish Audio". '
    "This model is licensed under the Fish Audio Research License, Copyright (c) 39 AI, INC. All Rights "
    "Reserved."
)
_POSITIONS = 2048  # of the KV cache that is counted: a reference of 20 s and a pass of 60 s


def describe(checkpoint) -> dict:
    """The facts of an open checkpoint, ready for JSON: {name, path, parameters, bytes, types: {TYPE: {tensors, bytes}},
    config, memory: {weights, kv_cache, positions, needed} in bytes, licence}."""
    from .storage import kept

    config, parameters, weights = checkpoint.config, 0, 0
    types: dict[str, dict[str, int]] = {}
    for tensor in checkpoint.tensors.values():
        entry = types.setdefault(tensor.type.name, {"tensors": 0, "bytes": 0})
        entry["tensors"] += 1
        entry["bytes"] += tensor.nbytes
        parameters += tensor.elements
        weights += kept(tensor, tensor.storage)
    positions, kv_cache = min(_POSITIONS, config.context_length), kv_cache_bytes(config)
    return {
        "name": config.name,
        "path": str(checkpoint.path),
        "parameters": parameters,
        "bytes": checkpoint.packed_bytes,
        "types": types,
        "config": dataclasses.asdict(config),
        "memory": {"weights": weights, "kv_cache": kv_cache, "positions": positions, "needed": weights + kv_cache},
        "licence": LICENCE if is_s2_pro(config) else checkpoint.licence,
    }


def kv_cache_bytes(config: ModelConfig) -> int:
    """Bytes of keys and values, float32, of a reference of 20 s and a pass of 60 s, or of the whole context if less."""
    slow, positions = config.slow, min(_POSITIONS, config.context_length)
    return 2 * slow.layers * slow.kv_heads * slow.head_dim * 4 * positions if slow else 0


def is_s2_pro(config: ModelConfig) -> bool:
    """Are these the sizes of S2 Pro, whose weights have a licence of their own?"""
    return config.slow is not None and (config.slow.dim, config.slow.layers, config.vocab_size) == (2560, 36, 155776)
