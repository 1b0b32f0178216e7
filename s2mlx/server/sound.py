"""Samples -> the bytes of a sound format, piece by piece: what one piece gives can be sent before the next is made.

All formats but FLAC: many readers, libsndfile among them, take no FLAC whose length its header does not tell.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..audio import OPUS_LEVEL, StreamResampler, blocks, encoder_rate, pcm16, short_pages, stream_wav_header
from ..errors import AudioError

PCM_RATE = 24_000  # Hz; OpenAI's bare samples have no header to say so


class Wav:
    """16-bit mono WAV at the model's rate, of unknown length."""

    content_type = "audio/wav"

    def __init__(self, rate: int):
        self._header = stream_wav_header(rate)

    def add(self, samples: np.ndarray) -> bytes:
        """float32 [n] -> what can be sent now, which may be nothing."""
        header, self._header = self._header, b""
        return header + pcm16(samples)

    def end(self) -> bytes:
        """The rest."""
        return self._header


class Pcm:
    """Bare 16-bit little-endian mono samples at 24 kHz."""

    content_type = "audio/pcm"

    def __init__(self, rate: int):
        self._resampler = StreamResampler(rate, PCM_RATE)

    def add(self, samples: np.ndarray) -> bytes:
        return pcm16(self._resampler.push(samples))

    def end(self) -> bytes:
        return pcm16(self._resampler.flush())


class Bare:
    """The same at the model's rate, for those who are told that."""

    content_type = "audio/pcm"

    def add(self, samples: np.ndarray) -> bytes:
        return pcm16(samples)

    def end(self) -> bytes:
        return b""


@dataclass(frozen=True)
class _Codec:
    """One of libsndfile's encoders. streams: whether what it writes can be used before its header is complete."""

    content_type: str
    format: str
    subtype: str
    streams: bool = True


class Encoded:
    """A compressed format, as libsndfile writes it.

    MP3 has a constant bit rate, so that players can tell its length; its first frame, which files keep for that, is
    26 ms of silence. Opus leaves in Ogg pages of 80 ms.
    """

    def __init__(self, rate: int, codec: _Codec):
        import soundfile

        self.content_type = codec.content_type
        own_rate = encoder_rate(codec.subtype, rate)
        self._resampler = StreamResampler(rate, own_rate)
        self._pcm = codec.subtype.startswith("PCM")
        self._tape = _Tape() if codec.streams else _Whole()
        self._error = soundfile.LibsndfileError
        keywords: dict[str, Any] = _mp3_bitrate(own_rate) if codec.format == "MP3" else {}
        if codec.format == "OGG":
            keywords = {"compression_level": OPUS_LEVEL}
        self._file = self._guard(
            soundfile.SoundFile, self._tape, "w", own_rate, 1, codec.subtype, format=codec.format, **keywords
        )

        if codec.format == "OGG":
            short_pages(self._file)

    def add(self, samples: np.ndarray) -> bytes:
        if not np.isfinite(samples).all():
            raise AudioError("the model made sound with values that are no numbers (NaN or infinity)")
        self._encode(self._resampler.push(samples))
        return self._tape.take()

    def end(self) -> bytes:
        self._encode(self._resampler.flush())
        self._guard(self._file.close)
        return self._tape.rest()

    def _encode(self, samples: np.ndarray) -> None:
        for block in blocks(samples, self._pcm):
            self._guard(self._file.write, block)

    def _guard(self, call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        try:
            return call(*arguments, **keywords)
        except self._error as fault:
            raise AudioError(f"the sound could not be encoded: {fault}") from None


class _Tape:
    """The file that an encoder believes to write. What is at its end goes out; what would change bytes that are gone
    (the lengths in a header, when it is closed) is dropped."""

    def __init__(self) -> None:
        self._position = self._end = 0
        self._fresh = bytearray()

    def write(self, data: bytes) -> int:
        if self._position == self._end:
            self._fresh += data
            self._end += len(data)
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._position = offset + (0, self._position, self._end)[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def take(self) -> bytes:
        """What can be sent now."""
        data, self._fresh = bytes(self._fresh), bytearray()
        return data

    rest = take  # after the encoder has closed it


class _Whole(io.BytesIO):
    """The same for a format that has to be complete: nothing can be sent before it is closed."""

    def take(self) -> bytes:
        return b""

    def rest(self) -> bytes:
        return self.getvalue()


def _mp3_bitrate(rate: int) -> dict[str, Any]:
    """libsndfile counts bit rates from the highest (level 0) to the lowest (level 1) of the MPEG version."""
    lowest, highest, wanted = (32, 320, 128) if rate >= 32_000 else (8, 160, 64)
    return {"bitrate_mode": "CONSTANT", "compression_level": (highest - wanted) / (highest - lowest)}


_CODECS = {
    "flac": _Codec("audio/flac", "FLAC", "PCM_16", streams=False),
    "mp3": _Codec("audio/mpeg", "MP3", "MPEG_LAYER_III"),
    "opus": _Codec("audio/ogg; codecs=opus", "OGG", "OPUS"),
}


def encoder(format: str, rate: int) -> Wav | Pcm | Bare | Encoded:
    """The encoder of `wav`, `pcm`, `bare`, `flac`, `mp3` or `opus` for samples at `rate` Hz."""
    if format == "wav":
        return Wav(rate)
    if format == "pcm":
        return Pcm(rate)
    if format == "bare":
        return Bare()
    return Encoded(rate, _CODECS[format])
