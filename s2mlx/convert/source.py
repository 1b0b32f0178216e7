"""What is converted: a GGUF file or a checkpoint folder. Its tensors, its keys, its companions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from ..config import ModelConfig
from ..errors import ModelError
from ..options import Sampling
from ..text.tokenizer import FILE_NAME, find_tokenizer, load_tokenizer
from ..weights import open_checkpoint
from ..weights.facts import LICENCE, is_s2_pro
from ..weights.gguf_file import MAX_HEADER, MAX_NAME, GGUFFile
from ..weights.keys import size_keys
from ..weights.packed import OWN
from .gguf_writer import value
from .types import Plan

_ANY_MEMORY = 1 << 62  # no network is built of it
_SECTIONS = ("general.", "fish-speech.", "fish_speech.", "fish_speech.codec.", "s2mlx.")  # as published files have them
PAPERS = ("LICENSE*", "NOTICE*", "tokenizer_config.json", "special_tokens_map.json", "chat_template*")
_REPLACED = ("general.file_type", "general.quantization_version", "general.alignment")


class Source:
    """An open model. checkpoint: see `weights`. gguf: the file, None for a folder."""

    def __init__(self, path):
        self.path = Path(path)
        self.checkpoint = open_checkpoint(self.path, memory_limit=_ANY_MEMORY)
        self.gguf = None if self.path.is_dir() else GGUFFile(self.path)
        if self.checkpoint.config.slow is None:
            raise ModelError(f"{self.path} holds only a codec, which is never quantized: there is nothing to convert")

    @property
    def config(self) -> ModelConfig:
        return self.checkpoint.config

    def keys(self) -> dict[str, bytes]:
        """Metadata as a GGUF file has them, without those that tell the types: of a GGUF file its own, to the bit."""
        if self.gguf:
            return {key: raw for key, raw in self.gguf.raw_keys.items() if key not in _REPLACED}
        return {key: value(x) for key, x in self.plain_keys().items()}

    def tokenizer(self, made: Plan) -> tuple[dict[str, bytes], Plan]:
        """{name: bytes} of its tokenizer.json, if it has one where the engine would look, and the plan with what people
        should know of what does not come along."""
        notes, warnings, files = made.notes, made.warnings, {}
        left = [name for name in self.gguf.entries if name not in self.checkpoint.tensors] if self.gguf else []
        if left:
            notes += (f"no network reads {', '.join(left[:3])}{' ...' if len(left) > 3 else ''}: left out",)
        if self.config.codec is None:
            warnings += (f"{self.path} has no codec: what is made of it cannot make or read sound",)
        try:
            tokenizer = find_tokenizer(self.path)
            load_tokenizer(tokenizer, self.config)
            files[FILE_NAME] = tokenizer.read_bytes()
        except ModelError as fault:
            warnings += (f"no tokenizer comes along: {fault}",)
        return files, replace(made, notes=notes, warnings=warnings)

    def papers(self) -> dict[str, bytes]:
        """{name: bytes} of a folder's licence and of what other tools want to know of its tokenizer."""
        if self.gguf:
            return {}
        return {p.name: p.read_bytes() for pattern in PAPERS for p in sorted(self.path.glob(pattern)) if p.is_file()}

    def plain_keys(self) -> dict:
        """`keys` as plain values, ready for JSON."""
        if not self.gguf:
            return plain_keys(self.config, self.audio_pad()) | self._words()
        keys = {key: x for key, x in self.gguf.metadata.items() if key not in _REPLACED}
        return {key: x.tolist() if hasattr(x, "tolist") else x for key, x in keys.items()}

    def _words(self) -> dict[str, str]:
        """What a folder of ours says of itself in words: author, licence, ..."""
        own = self.config_json().get(OWN)
        keys = own.get("keys") if isinstance(own, dict) else None
        return (
            {
                key: x
                for key, x in keys.items()
                if key.startswith("general.") and key not in _REPLACED and _is_writable(key, x)
            }
            if isinstance(keys, dict)
            else {}
        )

    def config_json(self) -> dict:
        """A folder's config.json as it is, without how it is packed; empty for a GGUF file."""
        if self.gguf:
            return {}
        config = json.loads((self.path / "config.json").read_text(encoding="utf-8"))
        return {key: x for key, x in config.items() if key not in ("quantization", "quantization_config")}

    def audio_pad(self) -> int:
        """Id of the token that stands where sound goes, for a folder's GGUF file: the engine needs it nowhere, other
        tools expect the key."""
        given = self.config_json().get("audio_pad_token_id")
        return given if type(given) is int and 0 <= given < 1 << 32 else max(self.config.semantic_begin - 1, 0)


def _is_writable(key: str, x) -> bool:
    """Whether a GGUF file can have the text `x` under that key: JSON has halves of characters, which are no UTF-8."""
    try:
        return isinstance(x, str) and len(key.encode()) <= MAX_NAME and len(x.encode()) <= MAX_HEADER
    except UnicodeEncodeError:
        return False


def plain_keys(c: ModelConfig, audio_pad: int) -> dict:
    """key -> bool, int, float, text or tuple: every key that published files have, from the sizes of the model."""
    general = {"general.architecture": "fish-speech", "general.name": c.name}
    if is_s2_pro(c):
        general |= {
            "general.basename": "fish-speech-s2-pro",
            "general.license": "other",
            "general.license.name": "fish-audio-research-license",
            "general.description": LICENCE,
        }
    sizes = size_keys(c)
    rest = {
        "model_type": "dual_ar",
        "audio_pad_token_id": audio_pad,
        "tie_word_embeddings": True,
        "fast_context_length": c.num_codebooks + 1,
        "fast_tie_word_embeddings": False,
        "fast_attention_qkv_bias": False,
        "fast_attention_o_bias": False,
        "fast_project_in": c.fast_project_in,
    }
    if c.codec:
        rvq = c.codec.rvq
        rest |= {
            "codec." + key: x
            for key, x in {
                "hop_length": c.codec.hop,
                "frame_length": c.codec.hop,
                "quantizer_input_dim": c.codec.latent_dim,
                "quantizer_type": "downsample_residual_vector_quantize",
                "encoder_transformer_layers": c.codec.encoder_transformer_layers,
                # built by no engine, but read by some
                "decoder_transformer_layers": (4,) + (0,) * (len(c.codec.decoder_rates) - 1),
                "transformer.block_size": 8192,
                "transformer.n_local_heads": -1,
                "rvq_transformer.block_size": 2048,
                "rvq_transformer.n_layer": rvq.layers,
                "rvq_transformer.n_local_heads": -1 if rvq.kv_heads == rvq.heads else rvq.kv_heads,
            }.items()
        }
    keys = general | sizes | {"fish_speech." + key: x for key, x in rest.items()} | _own_keys(c)
    section = lambda key: max(i for i, start in enumerate(_SECTIONS) if key.startswith(start))
    return dict(sorted(keys.items(), key=lambda item: section(item[0])))


def _own_keys(c: ModelConfig) -> dict:
    """What only our models say of themselves."""
    usual = ModelConfig()
    keys = {}
    if c.sampling != Sampling():
        keys |= {
            "s2mlx.sampling.temperature": c.sampling.temperature,
            "s2mlx.sampling.top_p": c.sampling.top_p,
            "s2mlx.sampling.top_k": c.sampling.top_k,
        }
    if (c.pass_seconds, c.dialogue) != (usual.pass_seconds, usual.dialogue):
        keys |= {"s2mlx.speech.pass_seconds": c.pass_seconds, "s2mlx.speech.dialogue": c.dialogue}
    if c.reference_seconds != usual.reference_seconds:
        keys["s2mlx.speech.reference_seconds"] = c.reference_seconds
    if (c.languages, c.tags) != (usual.languages, usual.tags):
        keys |= {"s2mlx.speech.languages": " ".join(c.languages), "s2mlx.speech.tags": c.tags}
    return keys
