"""Which file a model's name means. Knows folders and the Hugging Face cache; downloads nothing (see the command)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import ModelError
from ..files.defaults import read_defaults
from ..files.folders import assets_dir
from .part_names import parts_of

DEMO = "s2-nano"
# name -> (repository, file in it or None for the whole checkpoint)
KNOWN = {"s2-pro": ("fishaudio/s2-pro", None)} | {
    f"s2-pro-{kind}": ("rodrigomt/s2-pro-gguf", f"s2-pro-{kind}.gguf")
    for kind in ("f16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k", "q2_k")
}
RECOMMENDED = "s2-pro-q6_k"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(:[\w./-]+)?")


@dataclass(frozen=True)
class FoundModel:
    """path: GGUF file or checkpoint folder. is_demo: the bundled voice rather than a model somebody chose."""

    path: Path
    is_demo: bool = False


def find_model(spec: str | Path | None = None) -> FoundModel:
    """`spec`: a path, a known name, `owner/repo[:file]` in the Hugging Face cache, or None for the configured model
    (see `files.defaults`) and else the bundled one."""
    if spec is None:
        spec = configured() or DEMO
    name = str(spec)
    try:
        path = Path(os.path.expanduser(spec))
    except ValueError:  # a NUL in the name of a user
        path = Path(spec)
    if os.path.exists(path):
        if not (path.is_file() or path.is_dir()):
            raise ModelError(f"{name} is neither a file nor a folder: give a GGUF file or a checkpoint folder")
        return FoundModel(path)
    if name == DEMO:
        return FoundModel(_bundled(), is_demo=True)
    if name in KNOWN:
        repository, file = KNOWN[name]
        return FoundModel(_cached(repository, file, name))
    if _REPOSITORY.fullmatch(name) and not name.endswith(".gguf"):
        repository, _, file = name.partition(":")
        return FoundModel(_cached(repository, file or None, name))
    if _REPOSITORY.fullmatch(name) and ":" in name:
        repository, file = name.split(":", 1)
        return FoundModel(_cached(repository, file, name))
    known = ", ".join([DEMO, *KNOWN])
    shown = name if name.isprintable() else ascii(name)
    raise ModelError(f"no model {shown:.200}: no such file, and not a known name ({known}) or owner/repo[:file]")


def _bundled() -> Path:
    folder = assets_dir()
    path = folder and folder / "nano" / "s2-nano.gguf"
    if not path or not path.is_file():
        raise ModelError("no model is configured and none is bundled: give one with -m model.gguf or S2MLX_MODEL")
    return path


def configured() -> str | None:
    """The model that the defaults file names; None when it names none."""
    return read_defaults().get("model")


def _cached(repository: str, file: str | None, name: str) -> Path:
    from huggingface_hub import constants, hf_hub_download, snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        if file is not None:
            return Path(hf_hub_download(repository, file, local_files_only=True))
        folder = Path(snapshot_download(repository, local_files_only=True))
    except HFValidationError as fault:
        raise ModelError(f"{name} is not a repository name: {' '.join(str(fault).split())}") from None
    except LocalEntryNotFoundError:
        raise ModelError(
            f"{name} is not on this machine: get it with `s2mlx download {name}` (looked in {constants.HF_HUB_CACHE})"
        ) from None
    files = sorted(path for path in folder.glob("*.gguf") if parts_of(path)[0] == path)
    if (folder / "config.json").exists() or not files:
        return folder
    if len(files) > 1:
        raise ModelError(f"{name} has several models, name one: " + ", ".join(f"{repository}:{f.name}" for f in files))
    return files[0]
