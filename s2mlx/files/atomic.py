"""Files written whole or not at all: under a temporary name beside the target, which is then renamed."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from .leftovers import hold, sweep, temporary_beside
from .private import private_folder, private_opener

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # what only a write says


def write_bytes(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Write `data` to `path` by a `Draft`. Raises OSError."""
    with Draft(path, private=private) as draft:
        draft.file.write(data)


class Draft:
    """A file in the making: write to `file` (binary, seekable), then `commit`, or `discard`; as a context manager it
    commits, unless an exception passes.

    Until then `path` is untouched: an older file of that name survives any fault. A link is written through, as an
    ordinary write would; a file that is replaced keeps its permissions. replace: False puts the file onto a free name
    only. private: for nobody but its owner to read, whatever was there before. Raises OSError (missing folders,
    write-protected files, what is no file), whose `strerror` is for people, and whose `filename` is that of `path`.
    """

    def __init__(self, path: str | os.PathLike[str], *, replace: bool = True, private: bool = False):
        self.target = Path(os.path.realpath(path))
        mode = _mode(self.target)
        self._replace = replace
        self._temporary = temporary_beside(self.target)
        with self._named():
            handle = os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        self.file = os.fdopen(handle, "w+b")
        try:
            hold(handle)
            if mode is not None and not private:
                os.fchmod(handle, mode)
        except BaseException:
            self.discard()
            raise
        sweep(self.target.parent)

    def sync(self) -> None:
        """Have what was written on the disk, not only on its way. `commit` does so itself, which may take long."""
        with self._named():
            self.file.flush()
            os.fsync(self.file.fileno())

    def commit(self) -> None:
        """Give the file its name. FileExistsError if that is not free, where it has to be. After a failure or an
        interrupt the draft is still there: to be committed again, kept elsewhere or discarded."""
        if self.file.closed:
            return
        self.sync()
        with self._named():
            (os.replace if self._replace else _put_on_free_name)(self._temporary, self.target)
        self.file.close()
        _sync_folder(self.target.parent)

    def keep_elsewhere(self, folder: Path | None) -> Path | None:
        """Give the finished file another name than the one that something else has taken: the next free one beside it,
        or, where nothing can be named there any more, one in `folder`, if there is one, which is made. None if that
        fails too."""
        for name in _further_names(self.target):
            try:
                os.link(self._temporary, name)
            except FileExistsError:
                continue
            except OSError:  # the folder is gone or must not be written; some file systems have no links
                break
            self.discard()
            return name
        try:
            if folder is None:
                raise FileNotFoundError
            own = folder / self.target.name
            private_folder(folder)
            path = next(path for path in itertools.chain([own], _further_names(own)) if not path.exists())
            with open(path, "xb", opener=private_opener) as copy:
                self.file.seek(0)  # it can be read also when it has no name any more
                shutil.copyfileobj(self.file, copy)
                copy.flush()
                os.fsync(copy.fileno())
        except OSError:
            self.file.close()
            with contextlib.suppress(OSError):
                self._temporary = self._temporary.rename(self._temporary.with_suffix(""))  # which nobody sweeps
            return self._temporary if self._temporary.exists() else None
        self.discard()
        return path

    def discard(self) -> None:
        """Drop everything; does nothing after a commit."""
        if not self.file.closed:
            with contextlib.suppress(OSError):  # what it holds back may have no room
                self.file.close()
            with contextlib.suppress(OSError):
                self._temporary.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
            elif isinstance(value, OSError) and value.filename is None and value.errno in NO_ROOM:
                value.filename = str(self.target)  # a write does not know the name
        finally:
            self.discard()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Faults bear the name that was asked for, not the temporary one."""
        try:
            yield
        except OSError as fault:
            raise _as_of(fault, self.target) from None


def _as_of(fault: OSError, path: Path) -> OSError:
    return OSError(fault.errno, fault.strerror, str(path))  # of the class that belongs to the number


def _further_names(path: Path) -> Iterator[Path]:
    """a.wav -> a-2.wav, a-3.wav, ..."""
    return (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in itertools.count(2))


def _mode(target: Path) -> int | None:
    """The permissions of the file that is to be replaced, None where there is none; OSError where it must not be."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}", str(target)) from None
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(target))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it exists and is not a file", str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected", str(target))
    return stat.S_IMODE(status.st_mode)


def _put_on_free_name(temporary: Path, path: Path) -> None:
    """Between a look and a step another process may act: so what stands in the way makes the step itself fail."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # exFAT and some network disks have no links, and words of their own for that
        _claim(temporary, path)
    else:
        temporary.unlink()


def _claim(temporary: Path, path: Path) -> None:
    """The same where there are no links: an empty file takes the name first."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(path)
        raise


def _sync_folder(folder: Path) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # a folder that may not be read; the file itself is safe
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems refuse to sync a folder
    finally:
        os.close(handle)
