"""Files written whole or not at all: a temporary name beside the target, then a rename."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_bytes(path, data: bytes) -> None:
    """Write `data` to `path`; on any fault what stood there before is untouched. Missing folders are an `OSError`.

    A link is written through, as an ordinary write would; the file keeps the permissions it had.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
