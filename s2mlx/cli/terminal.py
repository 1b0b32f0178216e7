"""What people read: notes, warnings, errors, a progress line, questions. On stderr; stdout belongs to sound and data.

Nothing moves or has colour unless stderr is a capable terminal (not TERM=dumb); NO_COLOR turns colour off.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from ..errors import S2Error, reason
from ..text import visible


class Console:
    """stderr for people. `quiet` keeps warnings and errors only; `live` says whether a progress line may be shown."""

    def __init__(self) -> None:
        self.quiet = False
        self._stream: TextIO | None = sys.stderr  # None when the process was started without one
        self.live = _is_terminal(self._stream) and os.environ.get("TERM", "") != "dumb"
        self._colour = self.live and not os.environ.get("NO_COLOR")
        self._line = 0  # width of the progress line on screen
        self.prompt = ""  # what waits for words that are typed meanwhile

    def configure(self, args: argparse.Namespace) -> None:
        """Take --quiet and --json of a parsed command line."""
        self.quiet = getattr(args, "quiet", False)
        self.live = self.live and not self.quiet and not getattr(args, "json", False)

    def note(self, text: str) -> None:
        if not self.quiet:
            self._say("note", "2", text)

    def warn(self, text: str) -> None:
        self._say("warning", "33", text)

    def error(self, text: object) -> None:
        self._say("error", "31;1", " ".join(str(text).split()))

    def traceback(self, fault: BaseException) -> None:
        """Where a fault came from, for whoever mends it."""
        import traceback

        self.line("".join(traceback.format_exception(fault)).rstrip())

    def line(self, text: str = "") -> None:
        """Plain words of an interactive command."""
        self.clear()
        self._write(visible(text, lines=True) + "\n")

    def progress(self, text: str) -> None:
        """Rewrite the one line that shows what is going on."""
        if not self.live:
            return
        text = visible(text)[: max(10, _columns() - 1)]
        self._write("\r" + text.ljust(self._line))
        self._line = len(text)

    def clear(self) -> None:
        if self._line:
            self._write("\r" + " " * self._line + "\r")
            self._line = 0

    def summary(self, text: str) -> None:
        """The last word about a finished job: for a person watching, so only on a terminal."""
        if self.live:
            self.clear()
            self._write(visible(text) + "\n")

    @property
    def on_terminal(self) -> bool:
        """Is there a person who may read this, rather than a log?"""
        return _is_terminal(self._stream)

    @property
    def interactive(self) -> bool:
        """Can a question be asked and answered?"""
        return self.on_terminal and _is_terminal(sys.stdin)

    def ask(self, question: str, default: bool = False) -> bool:
        """Yes or no. End of input counts as no."""
        self.clear()
        self._write(f"{visible(question)} [{'Y/n' if default else 'y/N'}] ")
        answer = sys.stdin.readline()
        if not answer:
            self._write("\n")
            return False
        word = answer.strip().lower()
        return default if not word else word in ("y", "yes")

    def correct(self, question: str, text: str) -> str | None:
        """Words confirmed, corrected in place (e) or typed anew; None for no, and at the end of input."""
        self.clear()
        self._write(f"{visible(question)} [Y/n/e to edit] ")
        answer = sys.stdin.readline()
        word = " ".join(answer.split())
        if not answer:
            self._write("\n")
        if not answer or word.lower() in ("n", "no"):
            return None
        if word.lower() in ("", "y", "yes"):
            return text
        if word.lower() not in ("e", "edit"):
            return word
        return " ".join(_edited(text).split()) or None

    def _say(self, label: str, colour: str, text: str) -> None:
        self.clear()
        if self._colour:
            label = f"\x1b[{colour}m{label}\x1b[0m"
        back = "\r" if self.prompt else ""
        self._write(f"{back}{label}: {visible(text)}\n{self.prompt}")

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads stderr any more, it is closed, or on a full disk
            self._stream = None


def stdout_is_terminal() -> bool:
    return _is_terminal(sys.stdout)


class StdoutError(S2Error):
    """stdout takes no more: a full disk, for example. A reader that has gone is a BrokenPipeError as ever."""

    def __init__(self, fault: OSError):
        super().__init__(f"cannot write to stdout: {reason(fault)}")


class _Named:
    """A stream whose faults say which it is."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        with _as_of_stdout():
            return self._stream.write(text)

    def flush(self) -> None:
        with _as_of_stdout():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def _as_of_stdout() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise StdoutError(fault) from fault


@contextlib.contextmanager
def named_stdout() -> Iterator[None]:
    """Within, printing raises `StdoutError`."""
    with contextlib.ExitStack() as stack:
        if sys.stdout is not None:
            stack.enter_context(contextlib.redirect_stdout(cast(TextIO, _Named(sys.stdout))))
        yield


def on_stdout(word: str) -> str:
    """A name as it is for a program that reads stdout, and safe to show on a terminal."""
    return visible(word) if stdout_is_terminal() else word


def _edited(text: str) -> str:
    """The line that a person makes of `text`; empty at the end of input. Only where both ends are the terminal's can
    the old words stand there to be changed; elsewhere they are typed anew."""
    try:
        import readline
    except ImportError:  # a Python without it
        return sys.stdin.readline()
    if not (stdout_is_terminal() and sys.stdin is sys.__stdin__ and sys.stdout is sys.__stdout__):
        return sys.stdin.readline()
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        return typed("> ")
    except EOFError:
        return ""
    finally:
        readline.set_startup_hook()


def typed(prompt: str) -> str:
    """A line of the keyboard's. Raises EOFError at its end, `S2Error` for bytes that are not UTF-8."""
    try:
        line = input(prompt)
        line.encode()
    except UnicodeError as fault:
        raise S2Error("what was typed is not UTF-8 text; set the terminal and LANG to UTF-8") from fault
    return line


def stdin_is_piped() -> bool:
    """Is there a stdin that is not a keyboard?"""
    return sys.stdin is not None and not sys.stdin.closed and not _is_terminal(sys.stdin)


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _columns() -> int:
    try:
        return os.get_terminal_size(2).columns or 80
    except OSError:
        return 80


def seconds(value: float) -> str:
    """8.3 s, 2:05, 1:02:03."""
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(int(round(value)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def table(rows: list[list[str]]) -> str:
    """Columns padded to their widest cell."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows)
