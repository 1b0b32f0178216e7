"""The matrix a request is: what the voice sounds like, what was said before, what is to be said.

Row 0 holds token ids, rows 1.. the codes of each frame (0 in columns of text). Knows the template, not the tokenizer's
workings; nothing here touches MLX.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..config import ModelConfig
from ..errors import UsageError, VoiceError
from ..text.controls import clean_text
from ..text.marks import SPEAKER_TAG, spell_speakers
from ..text.tokenizer import Tokenizer
from ..text.words import has_words
from ..voices.voice import Voice


@dataclass(frozen=True)
class Turn:
    """Something said before: its text and the frames it became, int32 [num_codebooks, frames]."""

    text: str
    codes: np.ndarray


@dataclass(frozen=True)
class Prompt:
    """matrix int32 [1 + num_codebooks, T]. The first `reference_end` columns (the system's turn, its end included)
    are the same for every request with the same references."""

    matrix: np.ndarray
    reference_end: int

    def __len__(self) -> int:
        return int(self.matrix.shape[1])


def build_prompt(
    tokenizer: Tokenizer,
    config: ModelConfig,
    text: str,
    references: Sequence[Voice] = (),
    history: Sequence[Turn | tuple[str, np.ndarray]] = (),
) -> Prompt:
    """The prompt that makes the model say `text`.

    references: the voices of speakers 0, 1, ...; a transcript that names its speaker keeps that name.
    history: earlier turns, oldest first, each with the frames the model answered.
    Raises `UsageError` for a text without words, `VoiceError` for a reference that this model cannot use.
    """
    if not has_words(text, config.tags):
        raise UsageError("there is no text to speak")
    columns = _Columns(tokenizer, config)
    columns.control("<|im_start|>").text("system\n")
    if references:
        columns.text("convert the provided text to speech reference to the following:\n\nText:\n")
        columns.text("\n".join(_tagged(i, voice, config) for i, voice in enumerate(references)))
        columns.text("\n\nSpeech:\n")
        for voice in references:
            columns.frames(voice.codes)
    else:
        columns.text("convert the provided text to speech")
    columns.control("<|im_end|>").text("\n")
    reference_end = columns.width

    for turn in history:
        said, codes = (turn.text, turn.codes) if isinstance(turn, Turn) else turn
        _user(columns, said)
        columns.frames(codes).control("<|im_end|>").text("\n")
    _user(columns, text)
    return Prompt(columns.matrix(), reference_end)


def _user(columns: _Columns, text: str) -> None:
    """The user's turn and the beginning of the assistant's, up to where its frames start."""
    columns.control("<|im_start|>").text("user\n").text(text).control("<|im_end|>").text("\n")
    columns.control("<|im_start|>").text("assistant\n").control("<|voice|>")


def _tagged(index: int, voice: Voice, config: ModelConfig) -> str:
    voice.check(config)
    transcript = spell_speakers(clean_text(voice.transcript))
    if not has_words(transcript):
        called = f"voice {voice.name!r}" if voice.name else f"reference {index + 1}"
        raise VoiceError(
            f"{called} has no transcript, and the model cannot use a voice without the words it speaks; "
            "make it again with them"
        )
    return transcript if SPEAKER_TAG.search(transcript) else f"<|speaker:{index}|>{transcript}"


def frame_columns(codes: np.ndarray, config: ModelConfig) -> np.ndarray:
    """Frames int32 [num_codebooks, F] as a prompt's columns, int32 [1 + num_codebooks, F]: semantic token, codes."""
    return np.vstack([codes[:1] + config.semantic_begin, codes]).astype(np.int32)


class _Columns:
    """Segments side by side. Each is encoded on its own: no token spans a border."""

    def __init__(self, tokenizer: Tokenizer, config: ModelConfig):
        self._tokenizer, self._config = tokenizer, config
        self._parts: list[np.ndarray] = []
        self.width = 0

    def text(self, text: str) -> _Columns:
        return self._ids(self._tokenizer.encode(text))

    def control(self, name: str) -> _Columns:
        return self._ids([self._tokenizer.special(name)])

    def _ids(self, ids: list[int]) -> _Columns:
        part = np.zeros((1 + self._config.num_codebooks, len(ids)), np.int32)
        part[0] = ids
        return self._append(part)

    def frames(self, codes: np.ndarray) -> _Columns:
        """Columns of speech, checked."""
        codes = np.asarray(codes)
        books, size = self._config.num_codebooks, self._config.codebook_size
        semantic = self._config.semantic_end - self._config.semantic_begin + 1
        if codes.ndim != 2 or codes.shape[0] != books or not np.issubdtype(codes.dtype, np.integer):
            raise VoiceError(f"frames must be integers [{books}, frames], not {codes.dtype} {list(codes.shape)}")
        if codes.size and (codes.min() < 0 or codes.max() >= size or codes[0].max() >= semantic):
            raise VoiceError(f"a code of these frames is outside 0..{size - 1} (codebook 0: 0..{semantic - 1})")
        return self._append(frame_columns(codes, self._config))

    def _append(self, part: np.ndarray) -> _Columns:
        self._parts.append(part)
        self.width += part.shape[1]
        return self

    def matrix(self) -> np.ndarray:
        return np.concatenate(self._parts, axis=1)
