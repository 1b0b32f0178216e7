"""Where speech goes when it is not played: a file, a stream, a file of codes.

Each output takes pieces in order, `write(samples, codes, ended)`, where `ended` marks the end of a pass, and is closed:
`drop()` when the pass that was begun will not end, `finish()` after everything, `keep()` when interrupted (the passes
that ended are kept), `discard()` after a failure.
`lead`: None, or tells the seconds of sound that who hears each piece as it comes still has. `kept_seconds`: audio in
the file that was put in place.
Samples are float32 [n], codes int32 [num_codebooks, frames].
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np

from ..audio import MAX_DATA, AudioWriter, pcm16, stream_wav_header, wav_header
from ..errors import S2Error, reason
from ..files import Draft, npy_bytes
from . import paths
from .interrupts import uninterrupted
from .terminal import StdoutError


class Destination(ABC):
    """See above. path: as the user gave it."""

    def __init__(self, path: str):
        self.path, self.kept_seconds = path, 0.0

    @property
    def lead(self) -> Callable[[], float] | None:
        return None

    @abstractmethod
    def write(self, samples: np.ndarray, codes: np.ndarray, ended: bool) -> None: ...

    @abstractmethod
    def drop(self) -> None: ...

    @abstractmethod
    def finish(self) -> None: ...

    @abstractmethod
    def keep(self) -> None: ...

    @abstractmethod
    def discard(self) -> None: ...


class AudioFile(Destination):
    """A sound file. A pass is written when it has ended, so that an interrupted file holds whole passes only."""

    def __init__(self, path: str, rate: int, before: np.ndarray | None = None):
        super().__init__(path)
        self._rate = rate
        self._writer = AudioWriter(path, rate)
        self._pass: list[np.ndarray] = []
        if before is not None:
            self._writer.write(before)

    def write(self, samples: np.ndarray, codes: np.ndarray, ended: bool) -> None:
        self._pass.append(samples)
        if ended:
            self._writer.write(np.concatenate(self._pass))
            self._pass = []

    def drop(self) -> None:
        self._pass = []

    def finish(self) -> None:
        with uninterrupted():
            self._writer.close()
        self.kept_seconds = self._writer.samples_written / self._rate

    def keep(self) -> None:
        if self._writer.samples_written:
            self.finish()
        else:
            self._writer.abort()

    def discard(self) -> None:
        self._writer.abort()


class RawFile(Destination):
    """Headerless s16le mono. As with a sound file, it grows by whole passes."""

    def __init__(self, path: str, rate: int):
        super().__init__(path)
        self._rate, self._pass, self._bytes = rate, list[bytes](), 0
        with self._fault():
            self._draft = Draft(path)

    def write(self, samples: np.ndarray, codes: np.ndarray, ended: bool) -> None:
        self._pass.append(pcm16(samples))
        if ended:
            data = b"".join(self._pass)
            with self._fault():
                self._draft.file.write(data)
            self._bytes += len(data)
            self._pass = []

    def drop(self) -> None:
        self._pass = []

    def finish(self) -> None:
        with uninterrupted(), self._fault():
            self._draft.commit()
        self.kept_seconds = self._bytes / 2 / self._rate

    def keep(self) -> None:
        if self._bytes:
            self.finish()
        else:
            self.discard()

    def discard(self) -> None:
        self._draft.discard()

    @contextlib.contextmanager
    def _fault(self) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            raise S2Error(f"cannot write {self.path}: {reason(fault)}") from fault


class CodesFile(Destination):
    """The frames of all passes as one .npy, int32 [num_codebooks, frames]: small, and kept in memory until the end."""

    def __init__(self, path: str):
        super().__init__(path)
        self._done: list[np.ndarray] = []
        self._pass: list[np.ndarray] = []

    def write(self, samples: np.ndarray, codes: np.ndarray, ended: bool) -> None:
        self._pass.append(codes)
        if ended:
            self._done += self._pass
            self._pass = []

    def drop(self) -> None:
        self._pass = []

    def keep(self) -> None:
        if self._done:
            self.finish()

    def discard(self) -> None:
        self._done, self._pass = [], []

    def finish(self) -> None:
        save_codes(self.path, np.concatenate(self._done, axis=1))


class Stream(Destination):
    """stdout, a pipe or a device: each piece goes out as it comes. WAV of unknown length, or bare s16le mono."""

    def __init__(self, path: str, rate: int, raw: bool):
        super().__init__(path)
        self._rate, self._samples, self._began = rate, 0, 0.0
        self._file: BinaryIO = sys.stdout.buffer if path == "-" else open(path, "wb")
        self._header_at = None if raw else _position(self._file)
        if not raw:
            self._send(stream_wav_header(rate))

    def write(self, samples: np.ndarray, codes: np.ndarray, ended: bool) -> None:
        self._send(pcm16(samples))
        now = time.monotonic()
        if not self._began or self._ahead() < 0:  # a player that ran dry goes on with this piece
            self._began = now - self._samples / self._rate
        self._samples += len(samples)

    @property
    def lead(self) -> Callable[[], float]:
        """As if a player at the other end began with the first piece."""
        return self._ahead

    def _ahead(self) -> float:
        return self._samples / self._rate - (time.monotonic() - self._began) if self._began else 0.0

    def drop(self) -> None:
        pass  # it is gone

    def finish(self) -> None:
        self._tell_length()
        if self.path != "-":
            self._file.close()

    def keep(self) -> None:
        self.finish()

    def discard(self) -> None:
        with contextlib.suppress(OSError, S2Error):  # what it holds back may have no room
            self.finish()

    def _tell_length(self) -> None:
        """`-o - > file.wav` is a file after all: its header gets the length that is known now."""
        if self._header_at is None or 2 * self._samples > MAX_DATA:
            return
        end = self._file.tell()
        self._file.seek(self._header_at)
        self._send(wav_header(self._rate, 2 * self._samples))
        self._file.seek(end)

    def _send(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except BrokenPipeError:
            raise
        except OSError as fault:
            self._header_at = None  # nothing more can be told
            raise (
                StdoutError(fault) if self.path == "-" else S2Error(f"cannot write {self.path}: {reason(fault)}")
            ) from fault


def _position(file: BinaryIO) -> int | None:
    """Where a regular file stands; None for what cannot go back (a pipe, a device) or only appends."""
    try:
        descriptor = file.fileno()
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        appends = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
        return file.tell() if regular and not appends else None
    except (OSError, ValueError):  # no descriptor behind it
        return None


def save_codes(path: str, codes: np.ndarray) -> None:
    """Write int32 [num_codebooks, frames] as .npy, `-` is stdout."""
    paths.write_whole(path, npy_bytes(codes))


def open_audio(path: str, rate: int, raw: bool, before: np.ndarray | None = None) -> Destination:
    """The output that `-o PATH` means. before: samples that a file of sound begins with."""
    if paths.is_stream(path):
        return Stream(path, rate, raw)
    return RawFile(path, rate) if raw else AudioFile(path, rate, before)
