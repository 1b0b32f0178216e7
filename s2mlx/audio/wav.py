"""16-bit PCM and the WAV container as bytes. Knows no files: what is here also goes down a pipe."""

from __future__ import annotations

import struct

import numpy as np

from ..errors import AudioError

# A stream's length is not known when its header goes out. This even number, a little under 2^31, is what sox, ffmpeg,
# soundfile and scipy take for "until the end" without a complaint (sox warns above 0x7FFFF000), and no reader that
# keeps lengths in a signed 32-bit integer stumbles over it.
UNKNOWN_LENGTH = 0x7FFFF000
MAX_DATA = 2**32 - 1 - 36 - 1  # bytes of samples that a 32-bit RIFF length can still count
HEADER_BYTES = 44


def pcm16(samples) -> bytes:
    """float32 [n] in [-1, 1] -> little-endian 16-bit: x * 32768 rounded and clipped (reading divides by 32768)."""
    samples = np.asarray(samples, dtype=np.float32)
    if not np.isfinite(samples).all():
        raise AudioError("the samples hold values that are no numbers (NaN or infinity)")
    return np.clip(np.rint(samples * np.float32(32768)), -32768, 32767).astype("<i2").tobytes()


def _header(rate: int, riff_bytes: int, data_bytes: int) -> bytes:
    return (
        b"RIFF"
        + struct.pack("<I", riff_bytes)
        + b"WAVEfmt "
        + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
        + b"data"
        + struct.pack("<I", data_bytes)
    )


def wav_header(rate: int, data_bytes: int) -> bytes:
    """The 44 bytes before `data_bytes` bytes of 16-bit mono samples."""
    if data_bytes > MAX_DATA:
        raise AudioError("a WAV file holds at most 4 GiB; write .flac instead")
    return _header(rate, HEADER_BYTES - 8 + data_bytes, data_bytes)


def stream_wav_header(rate: int) -> bytes:
    """The 44 bytes before a stream of 16-bit mono samples whose length is not known."""
    return _header(rate, UNKNOWN_LENGTH, UNKNOWN_LENGTH)
