"""Text that another program writes, into a pipe or a FIFO: read on a thread of its own, taken when there is room."""

from __future__ import annotations

import codecs
import os
import stat
import sys
import threading
from dataclasses import dataclass

from s2mlx.errors import S2Error, UsageError, reason
from s2mlx.text import Cleaner

_READ = 4096  # bytes


@dataclass
class OutsideNews:
    """What has come since the last look. `ended`: the program has closed its end."""

    text: str = ""
    ended: bool = False
    error: S2Error | None = None


class OutsideText:
    """`source`: an open descriptor, or the path of a FIFO, which is opened again for the next program that writes to
    it. At most a read is held: a program that is faster waits in its own write."""

    def __init__(self, source: int | str, name: str):
        self._source, self._name = source, name
        self._lock = threading.Condition()
        self._came: OutsideNews | None = None
        self._stopped = False

    def start(self) -> None:
        """Begin to read. The thread may sit in a read for ever, and holds nothing up."""
        threading.Thread(target=self._run, name="s2mlx-arriving", daemon=True).start()

    def stop(self) -> None:
        """No more is wanted."""
        with self._lock:
            self._stopped = True
            self._lock.notify_all()

    def take(self) -> OutsideNews | None:
        """What has come, if anything has. Never waits."""
        with self._lock:
            came, self._came = self._came, None
            self._lock.notify_all()
            return came

    def _run(self) -> None:
        while not self._stopped:
            try:
                self._read()
            except UnicodeDecodeError:
                self._put(
                    OutsideNews(error=S2Error(f"{self._name} is not UTF-8 text; convert it, for example with iconv"))
                )
                return
            except OSError as fault:
                self._put(OutsideNews(error=S2Error(f"cannot read {self._name}: {reason(fault)}")))
                return
            self._put(OutsideNews(ended=True))
            if isinstance(self._source, int):
                return

    def _read(self) -> None:
        """Until the program closes its end. Raises OSError, UnicodeDecodeError."""
        decode, cleaner = codecs.getincrementaldecoder("utf-8-sig")().decode, Cleaner()
        descriptor = self._source if isinstance(self._source, int) else os.open(self._source, os.O_RDONLY)
        try:
            while not self._stopped:
                data = os.read(descriptor, _READ)
                clean: list[str] = []
                cleaner.add(decode(data, final=not data), clean, [], last=not data)
                if clean:
                    self._put(OutsideNews("".join(clean)))
                if not data:
                    return
        finally:
            os.close(descriptor)

    def _put(self, came: OutsideNews) -> None:
        with self._lock:
            self._lock.wait_for(lambda: self._came is None or self._stopped)
            self._came = came


def outside_text(path: str) -> OutsideText | None:
    """What is read as it comes from `path` (`-` is stdin, which gives its place to the terminal). None for a file that
    is there as a whole. Raises S2Error."""
    if path == "-":
        return OutsideText(_free_stdin(), "stdin")
    try:
        return OutsideText(path, path) if stat.S_ISFIFO(os.stat(path).st_mode) else None
    except OSError as fault:
        raise S2Error(f"cannot read {path}: {reason(fault)}") from fault


def _free_stdin() -> int:
    """A copy of stdin. Descriptor 0, from which keys are read, is the terminal from now on: that of stdout by its own
    name, as `/dev/tty` cannot be waited for on each system."""
    if sys.stdin is None:
        raise UsageError("there is no stdin to read the text from")
    copy = os.dup(0)
    try:
        terminal = os.open(os.ttyname(1), os.O_RDWR)
    except OSError:  # its name is not known here, as in some containers
        terminal = os.open("/dev/tty", os.O_RDWR)
    os.dup2(terminal, 0)
    os.close(terminal)
    return copy
