"""The terminal to ourselves: the picture and what C libraries have to say take separate ways.

Textual draws on file descriptor 2. Audio libraries write there too, and PortAudio's binding even points it at /dev/null
while it starts, which would swallow a part of the picture.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LARGEST_LOG = 1 << 20  # bytes


@contextmanager
def own_terminal(log: Path) -> Iterator[None]:
    """While inside, `sys.__stderr__` is the terminal and descriptor 2 goes to the log file, or nowhere without one.

    Where descriptor 2 was led to a file already, it stays there, and descriptor 1 gives the terminal."""
    sys.__stderr__.flush()
    kept, picture = os.dup(2), sys.__stderr__
    sys.__stderr__ = os.fdopen(os.dup(2 if os.isatty(2) else 1), "w", encoding=picture.encoding, errors=picture.errors)
    if os.isatty(2):
        noise = _open(log)
        os.dup2(noise, 2)
        os.close(noise)
    try:
        yield
    finally:
        sys.__stderr__.flush()
        os.dup2(kept, 2)
        os.close(kept)
        sys.__stderr__.close()
        sys.__stderr__ = picture


def _open(log: Path) -> int:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LARGEST_LOG:
            log.unlink()
        return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
