"""The words to speak: from the command line, a file, or a pipe."""

from __future__ import annotations

import sys

from ..errors import S2Error, UsageError
from .references import check_unicode
from .terminal import stdin_is_piped

MAX_BYTES = 16_000_000  # several long books; more is a mistake such as a disk image given with -f


def read_text(words: list[str], file: str | None) -> str:
    """Words joined by spaces, else `file` (`-` is stdin), else a pipe on stdin. Never empty."""
    if words:
        text, source = " ".join(words), "the text"
        check_unicode(text, source)
    elif file is not None:
        text, source = _read_file(file), "stdin" if file == "-" else file
    elif stdin_is_piped():
        text, source = _read_file("-"), "stdin"
    else:
        raise UsageError("nothing to say: give TEXT, -f FILE, or a pipe; see s2mlx say --help")
    if not text.strip():
        raise UsageError(f"nothing to say: {source} is empty")
    return text


def _read_file(path: str) -> str:
    if path == "-":
        if sys.stdin is None:
            raise UsageError("nothing to say: there is no stdin")
        data, name = sys.stdin.buffer.read(MAX_BYTES + 1), "stdin"
    else:
        name = path
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as fault:
            raise S2Error(f"cannot read {path}: {getattr(fault, 'strerror', None) or fault}") from fault
    if len(data) > MAX_BYTES:
        raise S2Error(f"{name} is longer than {MAX_BYTES // 1_000_000} MB of text; split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise S2Error(f"{name} is not UTF-8 text (byte {fault.start}); convert it, for example with iconv") from fault
