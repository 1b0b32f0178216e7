"""Which folder a language model's name means."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import regex

from ..errors import ModelError, UsageError
from ..files import read_defaults

DEFAULT_MODEL = "mlx-community/Qwen3-4B-Instruct-2507-4bit"  # 2.3 GB, Apache-2.0; answers without long thoughts
_REPOSITORY = regex.compile(r"[\w.-]+/[\w.-]+")
_PARTS = ["config.json", "*.json", "model*.safetensors", "*.jinja", "tokenizer.model", "*.txt"]  # what mlx-lm reads


def find_language_model(name: str | None = None) -> Path:
    """The folder of a model that mlx-lm runs: a path, or `owner/repo` in the Hugging Face cache; None is the configured
    one (`s2mlx config lm`), else the default.

    Nothing is downloaded. Raises `UsageError` without mlx-lm, `ModelError` for a model that is not there.
    """
    if importlib.util.find_spec("mlx_lm") is None:
        raise UsageError('a language model needs mlx-lm: pip install "s2mlx[lm]"')
    name = name or read_defaults().get("lm") or DEFAULT_MODEL
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelError(f"{name} is no language model: it has no config.json")
        return path
    if path.exists() or not _REPOSITORY.fullmatch(name):
        shown = name if name.isprintable() else ascii(name)
        raise ModelError(f"no language model {shown:.200}: neither a folder nor owner/repo")
    return _cached(name)


def _cached(name: str) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True, allow_patterns=_PARTS))
    except HFValidationError as fault:
        raise ModelError(f"{name} is not a repository name: {' '.join(str(fault).split())}") from None
    except (LocalEntryNotFoundError, OSError):
        folder = None
    if folder is None or not os.path.exists(folder / "config.json"):
        raise ModelError(
            f"the language model {name} is not on this machine: get it with `s2mlx download {name}`, or name another "
            f"with --lm (looked in {constants.HF_HUB_CACHE})"
        )
    return folder
