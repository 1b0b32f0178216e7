"""Files written whole or not at all: a temporary name beside the target, then a rename."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_bytes(path, data: bytes) -> None:
    """Write `data` to `path`; on any fault what stood there before is untouched. Missing folders are an `OSError`.

    A link is written through, as an ordinary write would; the file keeps the permissions it had.
    """
    target = Path(os.path.realpath(path))
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    """Permissions of the file to be replaced, or those a plain `open` would give a new one."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
