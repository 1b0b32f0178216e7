"""Cuts a reference that is longer than the model was trained for: at the end of a sentence, together with its words.

Nothing says where in the clip a word is. The place is estimated from the lengths of the words, then moved to the
quietest moment near it.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from ..config import ModelConfig
from ..text.pace import cumulative_seconds
from ..text.splitting import split_passes
from ..voices.voice import Voice

_QUIET = 0.1  # of the loud frames' level: silence
_REACH = 0.15  # of the estimated time: how far off a pause may be
_LEAST_REACH = 0.6  # seconds
_DISTANCE = 0.3  # what being that far off weighs, in units of the loud frames' level
_KEPT = 64  # voices

Loudness = Callable[[np.ndarray], np.ndarray]


def shorten(voice: Voice, seconds: float, frame_seconds: float, loudness: Loudness) -> Voice:
    """The beginning of a voice's clip, at most about `seconds` long, and the words spoken there.

    loudness: codes int32 [num_codebooks, frames] -> float [frames], each frame's level on a linear scale; asked only
    where something is to be cut. A voice that is short enough, or says nothing, comes back as it is.
    """
    text = voice.transcript
    estimate = cumulative_seconds(text)
    if voice.frames * frame_seconds <= seconds or not estimate[-1]:
        return voice
    level = loudness(voice.codes)
    loud = float(np.quantile(level, 0.9))
    heard = np.flatnonzero(level > _QUIET * loud)
    if not len(heard):
        return voice
    first, last = int(heard[0]), int(heard[-1]) + 1
    frames_per_second = (last - first) / estimate[-1]  # of the estimate
    room = (seconds / frame_seconds - first) / frames_per_second
    spans = split_passes(text, max(room, 0.5))
    if spans[0].end >= len(text):  # all that is too long is silence
        end = min(voice.frames, last + round(_LEAST_REACH / frame_seconds))
        return dataclasses.replace(voice, codes=voice.codes[:, :end])
    end = _pause(level / loud, first, estimate[spans[0].end] * frames_per_second, frame_seconds)
    return dataclasses.replace(voice, codes=voice.codes[:, :end], transcript=text[: spans[0].end].rstrip())


def _pause(level: np.ndarray, first: int, spoken: float, frame_seconds: float) -> int:
    """The frame to cut before: quiet, and about `spoken` frames behind the first sound."""
    reach = max(_REACH * spoken, _LEAST_REACH / frame_seconds)
    places = np.arange(max(1, int(first + spoken - reach)), min(len(level), int(first + spoken + reach) + 1))
    around = np.convolve(level, np.ones(3) / 3, "same")[places]
    return int(places[(around + _DISTANCE * np.abs(places - first - spoken) / reach).argmin()])


class References:
    """The voices of requests as this model takes them; each is cut once."""

    def __init__(self, config: ModelConfig, decode: Callable[[np.ndarray], np.ndarray]):
        """decode: codes int32 [num_codebooks, frames] -> samples float32 [frames * frame_samples]"""
        self._config, self._decode = config, decode
        self._cut: OrderedDict[Voice, Voice] = OrderedDict()

    def fit(self, voice: Voice) -> Voice:
        """Raises `VoiceError` for a voice of another model."""
        config = self._config
        if config.codec is None or voice.frames * self._frame_seconds() <= config.reference_seconds:
            return voice
        voice.check(config)
        if voice not in self._cut:
            self._cut[voice] = shorten(voice, config.reference_seconds, self._frame_seconds(), self._loudness)
            if len(self._cut) > _KEPT:
                self._cut.popitem(last=False)
        return self._cut[voice]

    def _frame_seconds(self) -> float:
        assert self._config.codec is not None
        return self._config.codec.frame_samples / self._config.codec.sample_rate

    def _loudness(self, codes: np.ndarray) -> np.ndarray:
        level: np.ndarray = np.sqrt(np.square(self._decode(codes).reshape(codes.shape[1], -1)).mean(axis=1))
        return level
