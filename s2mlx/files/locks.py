"""Locks between processes: who holds a lock file keeps other processes and threads out."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from .private import private_folder

# What network file systems without locks say.
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP}


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], wait: float = 60.0) -> Iterator[None]:
    """Within, nobody else holds the lock file `path`, which is made if need be, its folder too, and stays. The end of a
    process frees it.

    Where the file system has no locks, nobody is kept out. Raises TimeoutError after `wait` seconds (0: at once) in
    which another held it, OSError where the file cannot be made. Not for one thread twice.
    """
    import filelock

    private_folder(Path(path).parent)
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=wait)
    except filelock.Timeout:
        raise TimeoutError(errno.ETIMEDOUT, "another program holds it", str(path)) from None
    except NotImplementedError:
        pass
    except OSError as fault:
        if fault.errno not in _NO_LOCKS:
            raise
    try:
        yield
    finally:
        lock.release()
