"""Small state files: written whole or not at all, read without ever failing the app."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from s2mlx.files import write_bytes


def write_json(path: Path, value: Any) -> None:
    """Raises OSError (a full disk, no permission)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, json.dumps(value, ensure_ascii=False, indent=1).encode())


def read_json(path: Path, limit: int = 16 << 20) -> Any:
    """The value in the file; None when it is absent, damaged or larger than `limit` bytes."""
    try:
        if path.stat().st_size > limit:
            return None
        value = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair can be neither shown nor written
        return value
    except (OSError, ValueError, RecursionError):
        return None
