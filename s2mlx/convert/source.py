"""What is converted: a GGUF file or a checkpoint folder. Its tensors, its keys, its companions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from ..config import ModelConfig
from ..errors import ModelError
from ..text.tokenizer import FILE_NAME, find_tokenizer, load_tokenizer
from ..weights import open_checkpoint
from ..weights.gguf_file import MAX_HEADER, MAX_NAME
from ..weights.keys import published_keys
from ..weights.packed import OWN
from ..weights.part_names import parts_of
from ..weights.split_gguf import read_gguf
from .gguf_writer import value
from .types import Plan

_ANY_MEMORY = 1 << 62  # no network is built of it
PAPERS = ("LICENSE*", "NOTICE*", "tokenizer_config.json", "special_tokens_map.json", "chat_template*")
_REPLACED = ("general.file_type", "general.quantization_version", "general.alignment")


class Source:
    """An open model. checkpoint: see `weights`. gguf: the file, None for a folder."""

    def __init__(self, path):
        self.path = Path(path)
        self.checkpoint = open_checkpoint(self.path, memory_limit=_ANY_MEMORY)
        self.gguf = None if self.path.is_dir() else read_gguf(self.path)
        if self.checkpoint.config.slow is None:
            raise ModelError(f"{self.path} holds only a codec, which is never quantized: there is nothing to convert")

    @property
    def config(self) -> ModelConfig:
        return self.checkpoint.config

    def is_part(self, path: Path) -> bool:
        """Whether `path` is one of the files of a GGUF source in several."""
        return path.exists() and any(part.exists() and part.samefile(path) for part in parts_of(self.path)[1:])

    def keys(self) -> dict[str, bytes]:
        """Metadata as a GGUF file has them, without those that tell the types: of a GGUF file its own, to the bit."""
        if self.gguf:
            return {key: raw for key, raw in self.gguf.raw_keys.items() if key not in _REPLACED}
        return {key: value(x) for key, x in self.plain_keys().items()}

    def tokenizer(self, made: Plan) -> tuple[dict[str, bytes], Plan]:
        """{name: bytes} of its tokenizer.json, if it has one where the engine would look, and the plan with what people
        should know of what does not come along."""
        notes, warnings, files = made.notes, made.warnings, {}
        left = [name for name in self.gguf.tensors if name not in self.checkpoint.tensors] if self.gguf else []
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
            return published_keys(self.config, self.audio_pad()) | self._words()
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
