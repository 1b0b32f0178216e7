"""Small state files of JSON: written whole or not at all, for their owner alone; read, or known to be damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from s2mlx.errors import reason
from s2mlx.files import open_regular, private_folder, write_bytes

from .broken import Damaged

LARGEST = 16 << 20  # bytes


def write_json(path: Path, value: Any) -> None:
    """Raises OSError (a full disk, no permission)."""
    private_folder(path.parent)
    write_bytes(path, json.dumps(value, ensure_ascii=False, indent=1).encode(), private=True)


def read_bytes(path: Path, most: int) -> bytes | None:
    """At most `most` bytes of a file; None when there is no file. Raises Damaged."""
    try:
        with open_regular(path) as file:
            data = file.read(most + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as fault:
        raise Damaged(reason(fault)) from fault
    if len(data) > most:
        raise Damaged(f"it is larger than {most >> 20} MB")
    return data


def read_table(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None when there is no file. Raises Damaged."""
    data = read_bytes(path, LARGEST)
    return None if data is None else table(data)


def table(data: bytes) -> dict[str, Any]:
    """The JSON object that `data` holds. Raises Damaged."""
    try:
        value = json.loads(data.decode())
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair can be neither shown nor written
    except (ValueError, RecursionError):
        raise Damaged("it is not JSON, or damaged") from None
    if not isinstance(value, dict):
        raise Damaged("it holds no table")
    return value
