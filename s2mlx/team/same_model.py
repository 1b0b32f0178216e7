"""Whether two machines have the same model, without reading gigabytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .. import __version__

_BEGINNING = 4 << 20  # bytes: of a GGUF file the keys, names, types and places of all weights


def fingerprint(path: Path) -> str:
    """Of a file its size and beginning, of a folder that of each of its files, and of our version, since machines with
    different ones would not say the same. Raises `OSError`."""
    found = hashlib.sha256(__version__.encode())
    files = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.suffix in (".json", ".safetensors"))
    for file in files:
        found.update(f"{file.name if path.is_dir() else ''} {file.stat().st_size} ".encode())
        with open(file, "rb") as opened:
            found.update(opened.read(_BEGINNING))
    return found.hexdigest()
