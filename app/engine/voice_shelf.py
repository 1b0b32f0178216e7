"""The voices of this run: the saved ones and those given on the command line, as the loaded model takes them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from s2mlx.errors import GenerationError, S2Error
from s2mlx.voices import check_name, key

from ..jobs import Job, JobCancelled
from ..state.known_voices import KnownVoices
from ..state.voice_notes import VoiceNotes
from .protocols import SpeechEngine, Studio

if TYPE_CHECKING:
    from s2mlx.voices import VoiceFitter


class VoiceShelf:
    """`guests`: voices for this run only, by name; `notes`: what the user has noted of the voices;
    `known`: how they were called."""

    def __init__(self, studio: Studio, notes: VoiceNotes, known: KnownVoices, guests: dict[str, Any] | None = None):
        self._studio, self.notes, self.known, self.guests = studio, notes, known, guests or {}
        self._fitters: tuple[SpeechEngine, VoiceFitter] | None = None  # of the engine asked for last

    @property
    def library(self) -> Any:
        """S2mlx.VoiceLibrary; its code is loaded with the first use."""
        return self._studio.library

    def load(self, name: str, engine: SpeechEngine, job: Job) -> Any:
        """The voice as `engine` takes it, made again from its clip where it is of another model; on a job's thread.
        Raises VoiceError, or JobCancelled."""
        voice = self.guests.get(name) or self.library.get(name)
        say = lambda: job.report(None, f"{name} was made for another model: making it again from its clip")
        try:
            fitted = self._fitter(engine).fit(voice, cancel=job.cancel, on_making=say)
        except GenerationError:
            if job.cancel.is_set():
                raise JobCancelled from None
            raise
        if job.cancel.is_set():
            raise JobCancelled
        return fitted

    def misfit(self, name: str, engine: SpeechEngine) -> str:
        """Why `engine` cannot take a saved voice as it is, or an empty string."""
        try:
            self.library.get(name).check(engine.config)
        except (S2Error, OSError) as error:
            return str(error)
        return ""

    def trouble(self, name: str, engine: SpeechEngine | None) -> str:
        """Why a saved voice cannot speak, not even made again from its clip, or an empty string."""
        try:
            return self.misfit(name, engine) if engine and self.library.clip(name) is None else ""
        except (S2Error, OSError) as error:
            return str(error)

    def identities(self) -> dict[str, str]:
        """What each saved voice keeps when it is renamed, by name. On a job's thread."""
        found = {}
        with suppress(S2Error):
            for name in self.library.names():
                with suppress(S2Error):  # a broken voice is nobody's
                    found[name] = self.library.identity(name)
        return found

    def names(self) -> list[str]:
        return [*self.library.names(), *self.guests]

    def name_trouble(self, name: str, but: str = "") -> str:
        """Why a voice cannot be called so, or an empty string. `but`: the name it has now."""
        try:
            check_name(name)
            other = next((one for one in self.names() if key(one) == key(name.strip()) and one != but), None)
        except S2Error as error:
            return str(error)
        return f"there is a voice {other} already: take another name" if other else ""

    def free_name(self, stem: str) -> str:
        """me, me-2, me-3, ..."""
        try:
            taken, number = set(map(key, self.names())), 1
        except S2Error:  # said by the list of voices already
            return stem
        while key(name := stem if number == 1 else f"{stem}-{number}") in taken:
            number += 1
        return name

    def _fitter(self, engine: SpeechEngine) -> VoiceFitter:
        """It remembers what it made as long as the engine is the same."""
        from s2mlx.voices import VoiceFitter

        known = self._fitters
        if known is None or known[0] is not engine:
            known = self._fitters = engine, VoiceFitter(engine, self.library)
        return known[1]
