"""Audio files written piece by piece, whole or not at all: samples -> WAV or one of libsndfile's encoders."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import AudioError, S2Error, reason
from ..files.atomic import NO_ROOM, Draft
from ..files.folders import autosave_dir
from . import foreign
from .rates import StreamResampler
from .wav import HEADER_BYTES, pcm16, wav_header

if TYPE_CHECKING:
    import soundfile

OPUS_LEVEL = 0.87  # about 40 kbit/s of mono speech, which Opus makes of it without a loss that is heard
# ending -> (libsndfile format, subtype, compression level); those of MP3 and Vorbis come to about 64 and 90 kbit/s.
_ENCODED = {
    ".aiff": ("AIFF", "PCM_16", None),
    ".aif": ("AIFF", "PCM_16", None),
    ".flac": ("FLAC", "PCM_16", None),
    ".mp3": ("MP3", "MPEG_LAYER_III", 0.0),
    ".ogg": ("OGG", "VORBIS", 0.3),
    ".oga": ("OGG", "VORBIS", 0.3),
    ".opus": ("OGG", "OPUS", OPUS_LEVEL),
}
# Subtype -> what its encoder accepts, if not everything; another rate is resampled to the first one.
_RATES = {
    "MPEG_LAYER_III": (48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000),
    "OPUS": (48000, 24000, 16000, 12000, 8000),
}
_CONVERTED = (".m4a",)  # by a tool of the system
WRITABLE = (".wav", *_ENCODED, *_CONVERTED)
_BLOCK = 16384  # samples per call: libsndfile's Vorbis encoder puts a whole call on the stack
_TAIL = 256 * 1024  # bytes; an encoder holds back less than this when it is closed


def check_ending(path) -> str:
    """The ending in lower case if it can be written, else AudioError."""
    ending = Path(path).suffix.lower()
    if ending not in WRITABLE or "\0" in str(path):
        raise AudioError(f"cannot write {str(path)!r}: the name must end in one of {' '.join(WRITABLE)}")
    if ending in _CONVERTED and not foreign.can_make_m4a():
        raise AudioError(f"cannot write {path}: {foreign.NO_M4A}")
    return ending


def encoder_rate(subtype: str, rate: int) -> int:
    """The rate at which an encoder gets sound of `rate` Hz: its own if it takes that."""
    rates = _RATES.get(subtype, (rate,))
    return rate if rate in rates else rates[0]


def blocks(samples: np.ndarray, pcm: bool) -> Iterator[np.ndarray]:
    """What libsndfile is given of samples float32 [n]: within full scale, 16-bit output by one rounding rule
    everywhere, and not too much at a time."""
    samples = np.clip(samples, -1, 1)
    if pcm:
        samples = np.frombuffer(pcm16(samples), "<i2")
    for begin in range(0, len(samples), _BLOCK):
        yield samples[begin : begin + _BLOCK]


def short_pages(file: soundfile.SoundFile) -> None:
    """Have an Ogg encoder send pages of 80 ms of sound instead of a second, for listeners to what is being made.

    libsndfile's SFC_SET_OGG_PAGE_LATENCY_MS, which the binding does not name; before the first sample.
    """
    from soundfile import _ffi, _snd

    _snd.sf_command(file._file, 0x1302, _ffi.new("double *", 80.0), _ffi.sizeof("double"))


class AudioWriter:
    """One mono file in the making. `write` appends, `close` puts the file under its name, `abort` leaves nothing.

    Until `close` the name is untouched (an older file of that name survives); `close` after any number of writes gives
    a valid file of what was written. As a context manager: an exception aborts. private: for its owner alone to read.
    An AudioError that the system is to blame for has its OSError as `__cause__`.
    """

    def __init__(self, path, rate: int, *, private: bool = False):
        ending = check_ending(path)
        self.path = Path(path)
        self.rate = rate
        self.samples_written = 0
        self._encoder, self._finished = None, False
        try:
            self._draft = Draft(path, private=private)
        except (OSError, ValueError) as error:
            raise self._failure(error) from error
        with self._abort_on_failure():
            fd = self._draft.file.fileno()
            self._encoder = _encoder(ending, fd, rate)

    @property
    def seconds(self) -> float:
        """Audio written so far."""
        return self.samples_written / self.rate

    def write(self, samples) -> None:
        """Append float32 [n]. A failure (full disk) removes what was begun and raises AudioError."""
        if self._encoder is None:
            raise AudioError(f"{self.path} is already closed")
        samples = np.ascontiguousarray(samples, dtype=np.float32)
        with self._abort_on_failure():
            for begin in range(0, len(samples), _BLOCK):
                self._encoder.write(samples[begin : begin + _BLOCK])
        self.samples_written += len(samples)

    def close(self) -> None:
        """Finish the file and give it its name. Nothing written at all is an AudioError, and no file; where the name
        was taken away meanwhile the AudioError tells the name that the sound got instead."""
        if self._encoder is None:
            return
        if not self.samples_written:
            self.abort()
            raise AudioError(f"no sound to write to {self.path}")
        if not self._finished:
            with self._abort_on_failure():
                self._encoder.finish()
                self._draft.sync()
            self._finished = True
        try:
            self._draft.commit()
        except OSError as error:
            kept = self._draft.keep_elsewhere(_autosave_dir())
            where = f"the sound is kept in {kept}" if kept else "nothing was kept"
            self._release()
            raise AudioError(f"cannot write {self.path}: {reason(error)}; {where}") from error
        self._release()

    def abort(self) -> None:
        """Drop everything; the name stays as it was."""
        self._release()
        self._draft.discard()

    def _release(self) -> None:
        encoder, self._encoder = self._encoder, None
        if encoder is not None:
            encoder.close()

    def __enter__(self) -> AudioWriter:
        return self

    def __exit__(self, kind, value, traceback) -> None:
        self.abort() if kind else self.close()

    @contextlib.contextmanager
    def _abort_on_failure(self):
        """Any failure leaves nothing behind. An interrupt is none: close() can still keep what is finished."""
        try:
            yield
        except OSError as error:
            self.abort()
            raise self._failure(error) from error
        except Exception:
            self.abort()
            raise

    def _failure(self, error: OSError | ValueError) -> AudioError:
        lost = "; nothing was kept" if isinstance(error, OSError) and error.errno in NO_ROOM else ""
        return AudioError(f"cannot write {self.path}: {reason(error)}{lost}")


def _autosave_dir() -> Path | None:
    try:
        return autosave_dir()
    except S2Error:  # a user without a home
        return None


def _encoder(ending: str, fd: int, rate: int) -> _Wav | _Encoded | _Converted:
    if ending == ".wav":
        return _Wav(fd, rate)
    return _Converted(fd, rate) if ending in _CONVERTED else _Encoded(fd, rate, *_ENCODED[ending])


class _Wav:
    """16-bit WAV over a file descriptor: a header whose lengths are filled in at the end."""

    def __init__(self, fd: int, rate: int):
        self._fd, self._rate = fd, rate
        _write_all(fd, wav_header(rate, 0))
        self._bytes = 0

    def write(self, samples: np.ndarray) -> None:
        data = pcm16(samples)
        wav_header(self._rate, self._bytes + len(data))  # refuses what the format cannot count
        # At its own offset, so that a write cut off by an interrupt leaves no half of itself behind.
        os.lseek(self._fd, HEADER_BYTES + self._bytes, os.SEEK_SET)
        _write_all(self._fd, data)
        self._bytes += len(data)

    def finish(self) -> None:
        os.ftruncate(self._fd, HEADER_BYTES + self._bytes)
        os.lseek(self._fd, 0, os.SEEK_SET)
        _write_all(self._fd, wav_header(self._rate, self._bytes))

    def close(self) -> None:
        pass


class _Converted:
    """M4A: a WAV file aside, which a tool of the system converts at the end."""

    def __init__(self, fd: int, rate: int):
        self._fd = fd
        self._aside = tempfile.TemporaryDirectory(prefix="s2mlx-")
        self._source, self._made = (Path(self._aside.name) / name for name in ("speech.wav", "speech.m4a"))
        self._file = open(self._source, "w+b")  # closed by finish or close
        self._wav = _Wav(self._file.fileno(), rate)

    def write(self, samples: np.ndarray) -> None:
        self._wav.write(samples)

    def finish(self) -> None:
        self._wav.finish()
        self._file.close()
        foreign.make_m4a(self._source, self._made)
        with open(self._made, "rb") as made, open(self._fd, "wb", closefd=False) as target:
            shutil.copyfileobj(made, target)

    def close(self) -> None:
        self._file.close()
        self._aside.cleanup()


class _Encoded:
    """Any of libsndfile's encoders over a file descriptor (no Python callbacks: those would swallow an interrupt)."""

    def __init__(self, fd: int, rate: int, format: str, subtype: str, level: float | None):
        import soundfile

        self._fd = fd
        own_rate = encoder_rate(subtype, rate)
        self._resampler = StreamResampler(rate, own_rate, quality="VHQ")
        self._pcm = subtype.startswith("PCM")
        self._error = soundfile.LibsndfileError
        self._file = self._guard(
            soundfile.SoundFile, os.dup(fd), "w", own_rate, 1, subtype, format=format, compression_level=level
        )

    def write(self, samples: np.ndarray) -> None:
        if not np.isfinite(samples).all():
            raise AudioError("the samples hold values that are no numbers (NaN or infinity)")
        self._encode(self._resampler.push(samples))

    def finish(self) -> None:
        self._encode(self._resampler.flush())
        self._check_room()
        self._guard(self._file.close)

    def close(self) -> None:
        with contextlib.suppress(self._error):  # a file that is thrown away
            self._file.close()

    def _encode(self, samples: np.ndarray) -> None:
        for block in blocks(samples, self._pcm):
            self._guard(self._file.write, block)

    def _check_room(self) -> None:
        """libsndfile swallows a failure of the last pages, written while closing; so see first that there is room."""
        end = os.lseek(self._fd, 0, os.SEEK_CUR)
        size = os.fstat(self._fd).st_size
        try:
            room = 0
            while room < _TAIL:  # what does not fit is told by the write after the one that was cut short
                room += os.pwrite(self._fd, bytes(_TAIL - room), size + room)
        finally:
            os.ftruncate(self._fd, size)
            os.lseek(self._fd, end, os.SEEK_SET)

    def _guard(self, call, *arguments, **keywords):
        """libsndfile says little about why a write failed; what the system says to another write tells more."""
        try:
            return call(*arguments, **keywords)
        except (self._error, AssertionError) as error:
            self._check_room()
            raise OSError(errno.EIO, str(error)) from None


def write_audio(path, samples, rate: int, *, private: bool = False) -> None:
    """Write float32 [n] as WAV, FLAC, MP3, OGG or Opus by the ending, whole or not at all; AudioError says why not."""
    with AudioWriter(path, rate, private=private) as writer:
        writer.write(samples)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
