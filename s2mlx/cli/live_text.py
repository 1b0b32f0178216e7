"""Text that is spoken while it comes: from a pipe, a FIFO, a keyboard."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..errors import S2Error, reason
from ..text import MarkdownReader
from .terminal import stdin_is_piped, stdout_is_terminal, typed

if TYPE_CHECKING:
    from ..speech_input import SpeechInput

_AT_ONCE = 0.05  # s; what has come by then, and ended, is no different from a file
_READ = 64 * 1024  # bytes
PROMPT = "> "
_MOST_LINES = 1000


def comes_slowly(path: str) -> bool:
    """Whether the file (`-` is stdin) is a pipe, a FIFO or a keyboard, and not one that is there as a whole."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode if path == "-" else os.stat(path).st_mode
    except (OSError, ValueError, AttributeError):  # there is none, or nothing real behind it: others say so
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def read_slowly(path: str, patience: float | None, markdown: bool = False) -> SpeechInput | str:
    """Begin to read `path` (`-` is stdin) on a thread of its own. The whole text, if that came and ended at once.
    markdown: only the words of it."""
    from .. import SpeechInput

    text = SpeechInput() if patience is None else SpeechInput(patience=patience)
    name = "stdin" if path == "-" else path
    reader = MarkdownReader() if markdown else None
    write = text.write if reader is None else lambda piece: text.write(reader.write(piece))
    end = (lambda: None) if reader is None else lambda: text.write(reader.close())
    if path == "-" and not stdin_is_piped():
        _start(lambda: _prompt(text, write), text, end)
        return text
    thread = _start(lambda: _read(path, name, write), text, end)
    thread.join(_AT_ONCE)
    if thread.is_alive():
        return text
    came = text.take()
    if came.fault is not None:
        raise came.fault
    return "".join(piece for piece in came.pieces if piece is not None)


def _start(work: Callable[[], None], text: SpeechInput, end: Callable[[], None]) -> threading.Thread:
    from ..worker import Closed

    def run() -> None:
        try:
            work()
            end()
        except Closed:  # nobody listens any more
            pass
        except BaseException as fault:  # the request raises it, after what was complete
            text.close(fault)
        else:
            text.close()

    thread = threading.Thread(target=run, name="s2mlx-stdin", daemon=True)
    thread.start()
    return thread


def _read(path: str, name: str, write: Callable[[str], None]) -> None:
    """All of it as UTF-8, a byte order mark left away, each read as soon as it comes. Raises S2Error."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    done = 0  # bytes that are text by now
    try:
        for data in _pieces(path):
            held = len(decoder.getstate()[0])
            text = decoder.decode(data, final=not data)
            if "\0" in text:
                raise S2Error(f"{name} is not UTF-8 text (a byte of it is 0); convert it, for example with iconv")
            write(text)
            done += held + len(data) - len(decoder.getstate()[0])
    except UnicodeDecodeError as fault:
        raise S2Error(
            f"{name} is not UTF-8 text (byte {done + fault.start}); convert it, for example with iconv"
        ) from fault
    except OSError as fault:
        raise S2Error(f"cannot read {name}: {reason(fault)}") from fault


def _pieces(path: str) -> Iterator[bytes]:
    """What comes, and an empty piece at the end. By the descriptor: a thread that waits in Python's own reader would
    hold up the end of the process."""
    descriptor = sys.stdin.fileno() if path == "-" else os.open(path, os.O_RDONLY)
    try:
        while data := os.read(descriptor, _READ):
            yield data
        yield b""
    finally:
        if path != "-":
            os.close(descriptor)


def _prompt(text: SpeechInput, write: Callable[[str], None]) -> None:
    """Each line is spoken when Enter is pressed, until Ctrl-D. With a history, where the sound does not take stdout."""
    if not stdout_is_terminal():
        return _read("-", "stdin", _by_line(text, write))
    with line_history("say-lines"):
        while True:
            try:
                line = typed(PROMPT)
            except EOFError:
                print()
                return None
            write(line + "\n")
            text.flush()


def _by_line(text: SpeechInput, write: Callable[[str], None]) -> Callable[[str], None]:
    def write_line(words: str) -> None:
        write(words)
        if words.endswith("\n"):
            text.flush()

    return write_line


@contextlib.contextmanager
def line_history(name: str) -> Iterator[None]:
    """Lines are edited, and those of earlier runs come back with the arrow keys: they are in file `name` of the state's
    folder."""
    import atexit
    import termios

    with contextlib.suppress(OSError, termios.error):
        descriptor, before = sys.stdin.fileno(), termios.tcgetattr(sys.stdin.fileno())
        atexit.register(lambda: termios.tcsetattr(descriptor, termios.TCSADRAIN, before))
    try:
        import readline
    except ImportError:  # a Python without it reads lines all the same
        yield
        return
    from ..files import private_folder, state_dir

    file = state_dir() / name
    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(_MOST_LINES)
    saved = threading.Lock()

    def save() -> None:
        if saved.acquire(blocking=False):
            with contextlib.suppress(OSError, S2Error):
                private_folder(file.parent)
                readline.write_history_file(file)

    atexit.register(save)  # also after Ctrl-C, which this thread does not hear of
    yield
    save()
