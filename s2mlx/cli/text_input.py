"""The words to speak: from the command line, a file, or a pipe that is spoken while it comes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..files import LARGEST_TEXT, decode_text, read_text_file
from ..text import clean_text, has_words, read_markdown
from .live_text import comes_slowly, read_slowly
from .references import check_unicode
from .terminal import stdin_is_piped

if TYPE_CHECKING:
    from ..speech_input import SpeechInput


def read_text(
    words: list[str], file: str | None, patience: float | None = None, markdown: bool = False, whole: bool = False
) -> str | SpeechInput:
    """Words joined by spaces, else `file` (`-` is stdin), else a pipe on stdin. Never without a word, or a tag, unless
    it is still being written: of a pipe, a FIFO or a keyboard. patience: of that, if it was given. markdown: only what
    is read aloud of it. whole: nothing is to be done before all of it is there.

    Control sequences stay in it: the engine leaves them out, and tells places in the text as it was given."""
    if file is None and not words:
        if not stdin_is_piped():
            raise UsageError("nothing to say: give TEXT, -f FILE, or a pipe; see s2mlx say --help")
        file = "-"
    source = "the text" if words else "stdin" if file == "-" else str(file)
    slow = not (words or whole) and comes_slowly(str(file))
    if patience is not None and not slow:
        raise UsageError(
            f"--patience is for a text that comes slowly, and {source} is there as a whole, or is waited for"
        )
    text: str | SpeechInput
    if words:
        text = " ".join(words)
        check_unicode(text, source)
    elif slow:
        text = read_slowly(str(file), patience, markdown)
    else:
        text = _read_file(str(file))
    if not isinstance(text, str):
        return text
    if markdown and (words or not slow):
        text = "".join(read_markdown([text]))
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


def stdin_is_a_keyboard(file: str | None) -> bool:
    """Whether the text is typed while it is spoken."""
    return file == "-" and not stdin_is_piped()
