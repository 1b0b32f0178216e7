"""A voice: the frames of a reference clip, the words it speaks, and the `.s2voice` file that holds both.

The file, version 1, is shared with s2.cpp. Layout, little-endian: "S2VOICE\\0", u32 version, i32 codebooks,
i32 frames, i32 sample rate, i32 codebook size, u64 transcript bytes (with the final NUL), u64 code bytes, transcript
UTF-8 + NUL, i32 codes[codebooks][frames].
"""

from __future__ import annotations

import hashlib
import os
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ..config import CodecConfig, ModelConfig
from ..errors import VoiceError, reason
from ..files.atomic import write_bytes
from ..files.regular import open_regular

SUFFIX = ".s2voice"
_MAGIC = b"S2VOICE\0"
_VERSION = 1
_HEADER = struct.Struct("<8sIiiiiQQ")
# A ten-minute reference of S2 Pro has 0.5 MB; what is larger is no voice.
_LARGEST_FILE = 16 << 20
_MOST_CODEBOOKS, _LARGEST_CODEBOOK, _HIGHEST_RATE = 64, 1 << 20, 384_000


@dataclass(frozen=True, eq=False)
class Voice:
    """codes int32 [num_codebooks, frames], each in 0 .. codebook_size - 1; read-only. `transcript` is what they say.

    Two voices are equal when they sound the same and say the same, whatever their names.
    """

    codes: np.ndarray
    transcript: str
    sample_rate: int = 44100
    codebook_size: int = 4096
    name: str = ""

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 2 or not np.issubdtype(codes.dtype, np.integer):
            raise VoiceError(
                f"a voice needs codes of shape [codebooks, frames] as integers, not {codes.dtype} {list(codes.shape)}"
            )
        _check_sizes(codes.shape[0], codes.shape[1], self.sample_rate, self.codebook_size)
        wrong = np.argwhere((codes < 0) | (codes >= self.codebook_size))
        if len(wrong):
            book, frame = wrong[0]
            raise VoiceError(
                f"code {codes[book, frame]} (codebook {book}, frame {frame}) is outside 0..{self.codebook_size - 1}"
            )
        if "\0" in self.transcript:
            raise VoiceError("a transcript cannot hold a NUL character")
        try:
            self.transcript.encode("utf-8")
        except UnicodeEncodeError as fault:
            raise VoiceError(f"the transcript is not valid Unicode at character {fault.start + 1}") from None
        codes = np.array(codes, dtype=np.int32, order="C")
        codes.setflags(write=False)
        object.__setattr__(self, "codes", codes)

    @property
    def frames(self) -> int:
        return int(self.codes.shape[1])

    @property
    def seconds(self) -> float:
        """Length of the reference, for people to read, at S2's frame rate: the file does not say how many samples a
        frame has, and models of another sample rate keep that of the frames."""
        usual = CodecConfig()
        return self.frames * usual.frame_samples / usual.sample_rate

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything but the name: equal for equal voices, across processes."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Voice) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def check(self, config: ModelConfig) -> None:
        """Raise `VoiceError`, naming each thing that differs, unless a model can use this voice."""
        facts = [
            ("codebooks", self.codes.shape[0], config.num_codebooks),
            ("codebook size", self.codebook_size, config.codebook_size),
        ]
        if config.codec is not None:
            facts.append(("sample rate", self.sample_rate, config.codec.sample_rate))
        wrong = [f"{what} {mine}, the model has {models}" for what, mine, models in facts if mine != models]
        if wrong:
            raise VoiceError(
                f"{self._called()} was made for another model ({'; '.join(wrong)}); make it again from its clip"
            )

    def _called(self) -> str:
        return f"voice {self.name!r}" if self.name else "this voice"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Voice:
        """Read a `.s2voice` file; its name is the file's, without the ending."""
        path = Path(path)
        try:
            with open_regular(path) as file:
                data = file.read(_LARGEST_FILE + 1)
        except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
            raise VoiceError(f"cannot read voice {path}: {reason(fault)}") from fault
        try:
            return cls.from_bytes(data, name=path.stem)
        except VoiceError as fault:
            raise VoiceError(f"{path}: {fault}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `.s2voice` file, whole or not at all. Raises `VoiceError`."""
        try:
            write_bytes(path, self.to_bytes())
        except (OSError, ValueError) as fault:
            raise VoiceError(f"cannot write voice {path}: {reason(fault)}") from fault

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "") -> Voice:
        """Parse a whole `.s2voice` file. Every length is checked against the data before it is used."""
        if len(data) > _LARGEST_FILE:
            raise VoiceError(f"more than {_LARGEST_FILE >> 20} MB, too much for a voice")
        if data[: len(_MAGIC)] != _MAGIC:
            raise VoiceError("empty file" if not data else "not a voice file (it does not begin with S2VOICE)")
        if len(data) < _HEADER.size:
            raise VoiceError(f"cut off inside the header ({len(data)} of {_HEADER.size} bytes)")
        _, version, books, frames, rate, size, text_bytes, code_bytes = _HEADER.unpack_from(data)
        if version != _VERSION:
            raise VoiceError(f"voice file version {version}; this program reads version {_VERSION}")
        _check_sizes(books, frames, rate, size)
        if code_bytes != books * frames * 4:
            raise VoiceError(
                f"{code_bytes} bytes of codes announced, but {books} x {frames} codes take {books * frames * 4}"
            )
        if _HEADER.size + text_bytes + code_bytes != len(data):
            raise VoiceError(f"{_HEADER.size + text_bytes + code_bytes} bytes announced, but the file has {len(data)}")
        text = data[_HEADER.size : _HEADER.size + text_bytes]
        if text[-1:] != b"\0" or b"\0" in text[:-1]:
            raise VoiceError("the transcript does not end where the header says")
        try:
            transcript = text[:-1].decode("utf-8")
        except UnicodeDecodeError as fault:
            raise VoiceError(f"the transcript is not UTF-8 at byte {fault.start}") from None
        codes = np.frombuffer(data, "<i4", count=books * frames, offset=_HEADER.size + text_bytes)
        return cls(codes.reshape(books, frames), transcript, rate, size, name)

    def to_bytes(self) -> bytes:
        """The `.s2voice` file of this voice."""
        text = self.transcript.encode("utf-8") + b"\0"
        codes = self.codes.astype("<i4").tobytes()
        books, frames = self.codes.shape
        sizes = books, frames, self.sample_rate, self.codebook_size
        header = _HEADER.pack(_MAGIC, _VERSION, *sizes, len(text), len(codes))
        return header + text + codes


def _check_sizes(books: int, frames: int, rate: int, size: int) -> None:
    for what, value, most in (
        ("codebooks", books, _MOST_CODEBOOKS),
        ("frames", frames, _LARGEST_FILE // 4),
        ("samples per second", rate, _HIGHEST_RATE),
        ("entries per codebook", size, _LARGEST_CODEBOOK),
    ):
        if not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
            raise VoiceError(f"a voice cannot have {value} {what}")
