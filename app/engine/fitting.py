"""Voices as the loaded model takes them: one of another model is made again from the clip that was kept with it."""

from __future__ import annotations

from typing import Any

from s2mlx.errors import VoiceError

from ..jobs import Job
from .loader import Dropped
from .shapes import Synthesizer


class Fitting:
    """Remembers what it made, by the engine and the voice as saved. Called on jobs' threads."""

    def __init__(self, library: Any):
        self._library = library
        self._made: dict[str, tuple[Synthesizer, Any, Any]] = {}

    def check(self, engine: Synthesizer, voice: Any) -> None:
        """Raises VoiceError when the voice was made for another model."""
        config = getattr(engine, "config", None)
        if config is not None:
            voice.check(config)

    def fit(self, name: str, voice: Any, engine: Synthesizer, job: Job) -> Any:
        """The voice, or what `engine` makes of its clip. Raises VoiceError without a clip, Dropped when cancelled."""
        try:
            self.check(engine, voice)
            return voice
        except VoiceError:
            clip = self._library.clip_of(voice)
            if clip is None:
                raise
        known = self._made.get(name)
        if known and known[0] is engine and known[1] == voice:
            return known[2]
        job.report(None, f"{name} was made for another model: making it again from its clip")
        made = engine.clone(clip, voice.transcript, name=voice.name, cancel=job.cancel)
        if job.cancel.is_set():
            raise Dropped
        self._made[name] = engine, voice, made
        return made
