"""The official checkpoint folder (Hugging Face `fishaudio/s2-pro`), or one made of it for MLX -> Checkpoint.

config.json, model.safetensors or its shards, codec.pth or codec.safetensors. Sizes and names are put into s2.cpp's
terms, so that everything after this file sees one kind of model. The codec's sizes are in no file of the official
checkpoint: they are read off its tensors.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ModelError, reason
from ..files.regular import open_regular
from .assemble import assemble
from .checkpoint import Checkpoint
from .metadata import CODEC, REST, SLOW
from .packed import OWN, packing_of, unite
from .safetensors_file import read_safetensors
from .tensor import Tensor
from .torch_file import read_torch
from .weight_norm import fold

MODEL_TYPE = "fish_qwen3_omni"
MAX_JSON = 64 << 20

_SLOW_KEYS = {
    "vocab_size": "vocab_size",
    "max_seq_len": "context_length",
    "dim": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "n_layer": "block_count",
    "n_head": "attention.head_count",
    "n_local_heads": "attention.head_count_kv",
    "rope_base": "rope.freq_base",
    "norm_eps": "attention.layer_norm_rms_epsilon",
}
_FAST_KEYS = {
    "dim": "fast_embedding_length",
    "intermediate_size": "fast_feed_forward_length",
    "n_layer": "fast_block_count",
    "n_head": "fast_head_count",
    "n_local_heads": "fast_head_count_kv",
    "head_dim": "fast_head_dim",
    "rope_base": "fast_rope_freq_base",
    "norm_eps": "fast_layer_norm_rms_eps",
    "attention_qk_norm": "fast_attention_qk_norm",
    "attention_qkv_bias": "fast_attention_qkv_bias",
    "attention_o_bias": "fast_attention_o_bias",
    "vocab_size": "codebook_size",
    "num_codebooks": "num_codebooks",
}
_TOKEN_KEYS = {
    "semantic_start_token_id": "semantic_begin_id",
    "semantic_end_token_id": "semantic_end_id",
    "audio_pad_token_id": "audio_pad_token_id",
}
_TEXT_FLAGS = {
    "attention_qk_norm": "attention_qk_norm",
    "attention_qkv_bias": "attention_qkv_bias",
    "attention_o_bias": "attention_o_bias",
}


def open_folder(path: Path, memory_limit: int | None) -> Checkpoint:
    config = _json(path / "config.json")
    if config.get("model_type") != MODEL_TYPE:
        raise ModelError(
            f"{path}: config.json describes a {config.get('model_type')!r:.60} model; {MODEL_TYPE!r} "
            "(Fish Audio S2) is needed"
        )
    found = _language_tensors(path, packing_of(config, path))
    codec = _codec_tensors(path)
    keys = metadata(config, path) | codec_sizes(codec) | _own_keys(config)
    return assemble(path, keys, found | codec, memory_limit)


def metadata(config: dict, path) -> dict:
    """config.json in s2.cpp's keys; what it leaves out stays out."""
    text, audio = config.get("text_config", {}), config.get("audio_decoder_config", {})
    if not isinstance(text, dict) or not isinstance(audio, dict):
        raise ModelError(f"{path}: config.json has no text_config and audio_decoder_config")
    keys = {"general.architecture": "fish-speech"}
    for section, prefix, names in (
        (text, SLOW, _SLOW_KEYS),
        (text, REST, _TEXT_FLAGS),
        (audio, REST, _FAST_KEYS),
        (config, REST, _TOKEN_KEYS),
    ):
        heads = section.get("n_head")
        section = {**section, "n_local_heads": heads} if section.get("n_local_heads") == -1 else section
        keys |= {prefix + theirs: section[ours] for ours, theirs in names.items() if section.get(ours) is not None}
    return keys


def config_json(keys: dict) -> dict:
    """What `metadata` reads of a config.json, from s2.cpp's keys: the other direction."""
    section = lambda prefix, names: {
        ours: keys[prefix + theirs] for ours, theirs in names.items() if prefix + theirs in keys
    }
    return {
        "model_type": MODEL_TYPE,
        "text_config": section(SLOW, _SLOW_KEYS) | section(REST, _TEXT_FLAGS),
        "audio_decoder_config": section(REST, _FAST_KEYS),
        **section(REST, _TOKEN_KEYS),
        OWN: {"keys": keys},
    }


def _own_keys(config: dict) -> dict:
    """s2.cpp's keys as our own folders keep them: they say what config.json has no place for."""
    own = config.get(OWN)
    keys = own.get("keys") if isinstance(own, dict) else None
    if not isinstance(keys, dict):
        return {}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in keys.items()}


def codec_sizes(codec: dict[str, Tensor]) -> dict:
    """The codec's sizes in s2.cpp's keys, as far as its tensors tell them; the rest stays S2 Pro's."""
    shape = lambda name: codec[name].shape if name in codec and len(codec[name].shape) == 3 else None
    keys: dict[str, int | tuple[int, ...]] = {}
    if first := shape("c.encoder.block.0.conv.weight"):
        keys[CODEC + "encoder_dim"] = first[0]
    if first := shape("c.decoder.model.0.conv.weight"):
        keys |= {
            CODEC + "decoder_dim": first[0],
            CODEC + "latent_dim": first[1],
            CODEC + "rvq_transformer.n_head": max(first[1] // 64, 1),
        }
    kernels = {
        "encoder_rates": "c.encoder.block.{}.block.4.conv.weight",
        "decoder_rates": "c.decoder.model.{}.block.1.conv.weight",
    }
    rates_of = lambda name: _sequence(lambda i: (s := shape(name.format(i + 1))) and s[2] // 2)
    for key, name in kernels.items():
        if rates := rates_of(name):
            keys[CODEC + key] = rates
    if factors := _sequence(lambda i: (s := shape(f"c.quantizer.downsample.{i}.0.conv.weight")) and s[2]):
        keys[CODEC + "quantizer_downsample_factor"] = factors
    book = lambda name: codec[name].shape if name in codec and len(codec[name].shape) == 2 else None
    residual = lambda i: book(f"c.quantizer.quantizer.quantizers.{i}.codebook.weight")
    if size := book("c.quantizer.semantic_quantizer.quantizers.0.codebook.weight"):
        keys |= {
            CODEC + "quantizer_semantic_codebook_size": size[0],
            CODEC + "quantizer_codebook_dim": size[1],
            CODEC + "quantizer_residual_codebooks": len(_sequence(residual)),
        }
    if size := residual(0):
        keys[CODEC + "quantizer_residual_codebook_size"] = size[0]
    if size := book("c.quantizer.post_module.layers.0.feed_forward.w1.weight"):
        keys[CODEC + "rvq_transformer.feed_forward_length"] = size[0]
    return keys


def _sequence(value_at: Callable[[int], Any]) -> tuple[Any, ...]:
    """value_at(0), value_at(1), ... up to the first that is not there."""
    values: list[Any] = []
    while value := value_at(len(values)):
        values.append(value)
    return tuple(values)


def _language_tensors(path, packings) -> dict[str, Tensor]:
    found, named = {}, {}
    for file in _shards(path):
        for name, tensor in read_safetensors(file).items():
            if name in found:
                raise ModelError(f"{path}: tensor {name!r} is in more than one file")
            found[name] = tensor
    for name, tensor in unite(found, packings, path).items():
        if (ours := _language_name(name)) in named:
            raise ModelError(f"{path}: tensor {name!r} is there under another name too")
        named[ours] = tensor
    return named


def _shards(path) -> list[Path]:
    index = path / "model.safetensors.index.json"
    if not index.exists():
        return [path / "model.safetensors"]
    names = _json(index).get("weight_map")
    names = sorted(set(map(str, names.values()))) if isinstance(names, dict) else []
    if not names or any(
        "/" in name or "\\" in name or name.startswith(".") or not name.isprintable() for name in names
    ):
        raise ModelError(f"{index}: it does not list files of this folder")
    return [path / name for name in names]


def _language_name(name: str) -> str:
    if name.startswith("audio_decoder.codebook_embeddings."):
        return name.removeprefix("audio_decoder.")
    if name.startswith("audio_decoder."):
        return "fast_" + name.removeprefix("audio_decoder.")
    return name.removeprefix("text_model.").removeprefix("model.")


def _codec_tensors(folder) -> dict[str, Tensor]:
    """By s2.cpp's names; empty if the folder has none. The dictionary may lie in `state_dict`, and its names may begin
    with `generator.`"""
    readers = {folder / "codec.pth": read_torch, folder / "codec.safetensors": read_safetensors}
    path = next((path for path in readers if path.exists()), None)
    if path is None:
        return {}
    found = readers[path](path)
    found = {name.removeprefix("state_dict.").removeprefix("generator."): t for name, t in found.items()}
    if not found:
        raise ModelError(f"{path}: it holds no tensors")
    return {"c." + name: tensor for name, tensor in fold(found, path).items()}


def _json(path) -> dict:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_JSON + 1)
        if len(data) > MAX_JSON:
            raise ModelError(f"{path}: far too large")
        value = json.loads(data.decode("utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {reason(error)}; is the checkpoint complete?") from None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ModelError(f"{path}: not a JSON object")
    return value
