"""Audio files in: any container, rate, sample format and channel count -> float32 mono at the rate that is wanted.

Files come from strangers: what they claim is checked, they are decoded block by block under a time limit, and every
failure is one AudioError.
"""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import numpy as np

from ..errors import AudioError, reason
from ..files.regular import open_regular
from . import cut_short, foreign
from .rates import StreamResampler
from .wav import UNKNOWN_LENGTH

MAX_SECONDS = 600.0  # a reference is 5-30 s; ten minutes of anything still fits in memory with ease
_RATES = (1000, 768_000)  # Hz; outside there is no sound, only a damaged header
_MAX_CHANNELS = 64
_MAX_SAMPLE = 8.0  # float files may pass full scale a little; beyond, the scale is not that of audio
_BLOCK = 65536  # frames decoded at a time
# 5.1 in its usual order: left, right, centre, low frequencies, surround left and right. The voice sits in the centre.
_SURROUND_51 = np.array([0.7071, 0.7071, 1.0, 0.0, 0.5, 0.5], np.float32)
_UNCOUNTED = 2**62  # from here on libsndfile's number of frames means that the header has none


def read_audio(path, rate: int, *, max_seconds: float = MAX_SECONDS) -> np.ndarray:
    """Read a clip -> float32 [n] mono at `rate` Hz, resampled once and band-limited.

    WAV, FLAC, OGG, Opus, MP3, AIFF, CAF, whatever else libsndfile reads; m4a and AAC through `afconvert` or `ffmpeg`.
    AudioError: no such file, not audio, damaged or cut short, no samples, NaN, longer than `max_seconds`.
    """
    return _read(Path(path), rate, max_seconds)[0]


def read_sound(path, *, max_seconds: float = MAX_SECONDS) -> tuple[np.ndarray, int]:
    """The same at the file's own rate, which comes with it: for `resample`, which then gives what `read_audio` does."""
    return _read(Path(path), None, max_seconds)


def _read(path: Path, rate: int | None, max_seconds: float) -> tuple[np.ndarray, int]:
    """Samples float32 [n] and their rate: `rate`, or the file's own."""
    head = _head(path)
    import soundfile

    try:
        file = soundfile.SoundFile(os.fsencode(path)) if path.suffix.lower() != ".raw" else None
    except soundfile.LibsndfileError as error:
        kind = foreign.recognise(head)
        if kind is None:
            raise AudioError(f"cannot read {path} as audio: {_reason(error)}") from None
        cut_short.refuse_foreign(path, kind[0])
        with tempfile.TemporaryDirectory(prefix="s2mlx-") as folder:
            wav = Path(folder) / "converted.wav"
            foreign.convert(path, *kind, wav, max_seconds)
            try:
                file = soundfile.SoundFile(os.fspath(wav))
            except soundfile.LibsndfileError as error:
                raise AudioError(f"cannot read {path} as audio: the converter wrote {_reason(error)}") from None
            return _decode(file, path, head, rate, max_seconds)
    if file is None:
        raise AudioError(
            f"{path} has no header that says its rate; give it one: sox -r 44100 -e signed -b 16 -c 1 in.raw out.wav"
        )
    return _decode(file, path, head, rate, max_seconds)


def _head(path: Path) -> bytes:
    """The first bytes of a regular, readable, non-empty file."""
    try:
        with open_regular(path) as file:
            head = file.read(4096)
    except FileNotFoundError:
        raise AudioError(f"there is no audio file {path}") from None
    except (OSError, ValueError) as error:
        hint = "; save the audio to a file first" if getattr(error, "errno", None) == errno.EINVAL else ""
        raise AudioError(f"cannot read {path}: {reason(error)}{hint}") from None
    if not head:
        raise AudioError(f"{path} is empty")
    return head


def _decode(file, path: Path, head: bytes, rate: int | None, max_seconds: float) -> tuple[np.ndarray, int]:
    """All blocks of an open soundfile.SoundFile, mixed to mono and resampled as they come."""
    import soundfile

    with file:
        if not _RATES[0] <= file.samplerate <= _RATES[1]:
            raise AudioError(f"{path} claims a sample rate of {file.samplerate} Hz; it is damaged or not audio")
        if file.channels > _MAX_CHANNELS:
            raise AudioError(f"{path} has {file.channels} channels; mix it down first")
        limit = int(max_seconds * file.samplerate)
        # Only a seekable, measured length can be trusted before decoding; the count below is what binds.
        if file.format in ("WAV", "FLAC") and limit < file.frames < UNKNOWN_LENGTH // 2:
            raise foreign.too_long(path, max_seconds)
        cut_short.refuse_opened(file, path)
        rate = rate or file.samplerate
        resampler, pieces, frames = StreamResampler(file.samplerate, rate, quality="VHQ"), [], 0
        try:
            for block in _blocks(file):
                frames += len(block)
                if frames > limit:
                    raise foreign.too_long(path, max_seconds)
                pieces.append(resampler.push(_mono(block, path)))
        except soundfile.LibsndfileError as error:
            raise AudioError(f"{path} is damaged after {frames / file.samplerate:.1f} s: {_reason(error)}") from None
        if not frames:
            raise AudioError(f"{path} holds no sound (0 samples)")
        # FLAC counts its samples unless it was written to a pipe, MP3 only behind a Xing header.
        counted = file.format == "FLAC" or file.format == "MP3" and (b"Xing" in head or b"Info" in head)
        if counted and file.frames < _UNCOUNTED and file.frames - frames > 0.1 * file.samplerate:
            there, promised = frames / file.samplerate, file.frames / file.samplerate
            raise AudioError(f"{path} is cut short: {there:.1f} s of {promised:.1f} s; copy it again")
        pieces.append(resampler.flush())
        return np.concatenate(pieces), rate


def _blocks(file):
    """The samples of an open soundfile.SoundFile, float32 [frames, channels] at a time."""
    import soundfile

    while True:
        block = np.full((_BLOCK, file.channels), np.nan, np.float32)
        try:
            block = file.read(out=block)
        except soundfile.LibsndfileError as error:
            if file.frames < _UNCOUNTED or "seek" not in error.error_string:
                raise
            # A FLAC without a count: only the seek to its end has failed, the samples before it are there.
            if count := np.count_nonzero(np.isfinite(block[:, 0])):
                yield block[:count]
            return
        if not len(block):
            return
        yield block


def _mono(block: np.ndarray, path: Path) -> np.ndarray:
    """[frames, channels] -> [frames]; never louder than the loudest channel."""
    if not np.isfinite(block).all():
        raise AudioError(f"{path} holds values that are no numbers (NaN or infinity); export it again")
    if np.max(np.abs(block)) > _MAX_SAMPLE:
        raise AudioError(f"{path} has samples far beyond full scale; float audio lies between -1 and 1")
    if block.shape[1] == 1:
        return block[:, 0]
    if block.shape[1] == 6:
        return block @ (_SURROUND_51 / _SURROUND_51.sum())
    return block.mean(axis=1, dtype=np.float32)


def _reason(error) -> str:
    return error.error_string.strip().removeprefix("Error : ").rstrip(".")
