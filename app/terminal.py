"""The terminal to ourselves: the picture and what C libraries have to say take separate ways.

Textual draws on file descriptor 2. Audio libraries write there too, and PortAudio's binding even points it at /dev/null
while it starts, which would swallow a part of the picture.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from s2mlx.files import private_folder

LARGEST_LOG = 1 << 20  # bytes


@contextmanager
def own_terminal(log: Path) -> Iterator[None]:
    """While inside, `sys.__stderr__` is the terminal and descriptor 2 goes to the log file, or nowhere without one.

    Where descriptor 2 was led to a file already, it stays there, and descriptor 1 gives the terminal."""
    kept, picture = os.dup(2), sys.__stderr__
    assert picture is not None, "the app has a terminal"
    picture.flush()
    descriptor = os.dup(2 if os.isatty(2) else 1)
    own = _Picture(io.FileIO(descriptor, "w"), encoding=picture.encoding, errors=picture.errors)
    _draw_on(own)
    if os.isatty(2):
        noise = _open(log)
        os.dup2(noise, 2)
        os.close(noise)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        own.close()
        _draw_on(picture)


class _Picture(io.TextIOWrapper):
    """A terminal that may be closed meanwhile: that is no fault of who draws on it. The process is told as the system
    tells it, once."""

    _gone = False

    def write(self, text: str) -> int:
        self._try(lambda: super(_Picture, self).write(text))
        return len(text)

    def flush(self) -> None:
        self._try(super().flush)

    def close(self) -> None:
        self._try(super().close)

    def _try(self, step: Callable[[], object]) -> None:
        if self._gone:
            return
        try:
            step()
        except OSError:
            self._gone = True
            os.kill(os.getpid(), signal.SIGHUP)


def _draw_on(terminal: TextIO) -> None:
    sys.__stderr__ = terminal  # type: ignore[misc,assignment]  # final for mypy, yet it is where Textual draws


def _open(log: Path) -> int:
    try:
        private_folder(log.parent)
        if log.exists() and log.stat().st_size > LARGEST_LOG:
            log.unlink()
        return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
