"""The words to speak: from the command line, a file, or a pipe."""

from __future__ import annotations

import sys

from ..errors import UsageError
from ..files import LARGEST_TEXT, decode_text, read_text_file
from ..text import clean_text, has_words
from .references import check_unicode
from .terminal import stdin_is_piped


def read_text(words: list[str], file: str | None) -> str:
    """Words joined by spaces, else `file` (`-` is stdin), else a pipe on stdin. Never without a word, or a tag.

    Control sequences stay in it: the engine leaves them out, and tells places in the text as it was given."""
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
    if not has_words(clean_text(text)):
        raise UsageError(f"nothing to say: {source} has no words")
    return text


def _read_file(path: str) -> str:
    if path != "-":
        return read_text_file(path)
    if sys.stdin is None:
        raise UsageError("nothing to say: there is no stdin")
    return decode_text(sys.stdin.buffer.read(LARGEST_TEXT + 1), "stdin")
