"""Voices as one loaded model takes them: one of another model is made again from the recording kept with it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ..config import ModelConfig
from ..errors import GenerationError, VoiceError
from .library import VoiceLibrary
from .voice import Voice

_POLL = 0.1  # seconds


class Cloner(Protocol):
    """What is needed of a loaded model: `s2mlx.Synthesizer` has it."""

    @property
    def config(self) -> ModelConfig: ...

    def clone(self, clip: Any, transcript: str, *, name: str = "", cancel: threading.Event | None = None) -> Voice: ...


class VoiceFitter:
    """Fits voices to `model`, and remembers what it made. Any thread may ask; one voice is made at a time, and once,
    though several ask for it."""

    def __init__(self, model: Cloner, library: VoiceLibrary):
        self._model, self._library = model, library
        self._made: dict[str, Voice] = {}  # by fingerprint of what did not fit
        self._making = threading.Lock()

    def fits(self, voice: Voice) -> bool:
        """Can the model speak with the voice as it is?"""
        try:
            voice.check(self._model.config)
        except VoiceError:
            return False
        return True

    def fit(
        self,
        voice: Voice,
        *,
        clip: Path | None = None,
        cancel: threading.Event | None = None,
        on_making: Callable[[], None] = lambda: None,
    ) -> Voice:
        """The voice itself where it fits, else what the model makes of its recording: the one in the library, if the
        voice is what is saved there under its name, or the file `clip`.

        on_making() is called before the model begins, which takes seconds. Raises `VoiceError` when no recording was
        kept, `AudioError` for one that cannot be read, `GenerationError` when `cancel` was set.
        """
        try:
            voice.check(self._model.config)
            return voice
        except VoiceError as fault:
            recording = self._library.clip_of(voice) or clip
            if recording is None:
                raise
            if recording is clip and not clip.is_file():
                raise VoiceError(f"{fault}, or put its clip beside it, as {clip}") from None
        while not self._making.acquire(timeout=_POLL):
            if cancel is not None and cancel.is_set():
                raise GenerationError("cancelled")
        try:
            made = self._made.get(voice.fingerprint)
            if made is None:
                on_making()
                made = self._model.clone(recording, voice.transcript, name=voice.name, cancel=cancel)
                self._made[voice.fingerprint] = made
        finally:
            self._making.release()
        return dataclasses.replace(made, name=voice.name)
