"""Small state files: written whole or not at all, read without ever failing the app."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from s2mlx.files import open_regular, private_folder, write_bytes


def write_json(path: Path, value: Any) -> None:
    """Raises OSError (a full disk, no permission)."""
    private_folder(path.parent)
    write_bytes(path, json.dumps(value, ensure_ascii=False, indent=1).encode(), private=True)


def read_json(path: Path, limit: int = 16 << 20) -> Any:
    """The value in the file; None when it is absent, damaged or larger than `limit` bytes."""
    try:
        with open_regular(path) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            return None
        value = json.loads(data.decode("utf-8"))
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair can be neither shown nor written
        return value
    except (OSError, ValueError, RecursionError):
        return None
