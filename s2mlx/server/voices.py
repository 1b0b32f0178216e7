"""The name of a voice -> a voice that the served model takes. OpenAI's own are stood in for."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np

from ..errors import GenerationError, VoiceError
from ..results import STOP
from ..synthesizer import Synthesizer
from ..text import SENTENCES_TO_READ, estimate_seconds
from ..voices import Voice, VoiceFitter, VoiceInfo, VoiceLibrary, key, listed, printable
from .refused import Refused

OPENAI = (
    "alloy",
    "ash",
    "ballad",
    "cedar",
    "coral",
    "echo",
    "fable",
    "marin",
    "nova",
    "onyx",
    "sage",
    "shimmer",
    "verse",
)
# Of speech that the model makes up: so often it is tried, and to be kept it may be so many times longer or shorter than
# its words take. What is within the first factor is not tried again.
_TRIES, _WELL, _STILL = 3, 2, 3
_MADE_UP = SENTENCES_TO_READ["en"][0]  # its words


class Voices:
    """A saved voice is meant by its name. One of OpenAI's names, or none, means the default voice. Without that one, a
    built-in voice stands in, each name keeping to its own; and where none fits the model, the model makes a voice up,
    from a fixed seed and once, so that a client hears the same one every time and another one under another name.

    clip: where the recording of the default voice lies, if it is kept, unless the library has it."""

    def __init__(
        self,
        tts: Synthesizer,
        library: VoiceLibrary,
        default: Voice | None,
        log: Callable[[str], None],
        clip: Path | None = None,
    ):
        self._tts, self._library, self._log = tts, library, log
        self._fitter = VoiceFitter(tts, library)
        self._made_up: dict[str, Voice] = {}  # by one of OpenAI's names
        self._explained: set[str] = set()
        self._default = None if default is None else self._fitting(default, None, clip)

    def names(self) -> list[str]:
        """The saved and built-in voices that this model can speak with."""
        return [info.name for info in self._usable()]

    def get(self, name: str | None, cancel: threading.Event) -> Voice:
        """Raises `Refused` for a name that means nothing here, `VoiceError` for a voice that cannot be used,
        `GenerationError` when the model cannot make it, or `cancel` was set meanwhile. One thread at a time."""
        saved = {key(known): known for known in self._library.names()}
        if name is not None and key(name.strip()) in saved:
            return self._fitting(self._library.get(saved[key(name.strip())]), cancel)
        if name is not None and key(name.strip()) not in OPENAI:
            known = listed(saved.values(), 20) or "none is saved"
            raise Refused(400, f"there is no voice {printable(name)!r}; the voices here: {known}", param="voice")
        return self._stand_in(key(name.strip()) if name else None, cancel)

    def _stand_in(self, name: str | None, cancel: threading.Event) -> Voice:
        if self._default is not None:
            self._explain(name, "the default voice speaks")
            return self._default
        builtin = [info.name for info in self._usable() if info.builtin]
        number = OPENAI.index(name) if name else 0
        if builtin:
            chosen = builtin[number % len(builtin)]
            self._explain(name, f"{chosen} speaks")
            return self._fitting(self._library.get(chosen), cancel)
        if OPENAI[number] not in self._made_up:
            self._made_up[OPENAI[number]] = self._make_up(OPENAI[number], cancel)
        return self._made_up[OPENAI[number]]

    def _usable(self) -> list[VoiceInfo]:
        return [info for info in self._library.infos() if info.problem is None and self._fits(info)]

    def _fits(self, info: VoiceInfo) -> bool:
        try:
            return info.has_clip or self._fitter.fits(self._library.get(info.name))
        except VoiceError:  # it was removed, or damaged, meanwhile
            return False

    def _fitting(self, voice: Voice, cancel: threading.Event | None, clip: Path | None = None) -> Voice:
        """The voice, or, if it was made for another model, what this one makes of the clip that was kept with it."""
        say = lambda: self._log(f"voice {voice.name} was made for another model: encoding its clip")
        return self._fitter.fit(voice, clip=clip, cancel=cancel, on_making=say)

    def _make_up(self, name: str, cancel: threading.Event) -> Voice:
        """The model's own speech as a reference: what ends by itself and is about as long as its words take."""
        self._explain(name, "the model makes one up and keeps to it")
        codes, off = None, float(_STILL)
        for attempt in range(_TRIES):
            if off > _WELL and (found := self._attempt(crc32(name.encode()) + attempt, cancel)) and found[1] < off:
                codes, off = found
        if codes is None:
            raise Refused(
                500, f"the model made up no usable voice for {name}; ask for another, or save one", param="voice"
            )
        return Voice(codes, _MADE_UP, self._tts.sample_rate, self._tts.config.codebook_size, name)

    def _attempt(self, seed: int, cancel: threading.Event) -> tuple[np.ndarray, float] | None:
        """The codes of one, and by which factor it is longer or shorter than its words take; None if it did not end by
        itself."""
        expected = estimate_seconds(_MADE_UP)
        most = math.ceil(_STILL * expected * self._tts.sample_rate / self._tts.frame_samples)
        try:
            audio = self._tts.say(_MADE_UP, seed=seed, max_frames=most, cancel=cancel)
        except GenerationError as fault:
            if cancel.is_set() or fault.__cause__ is not None:  # out of memory: another seed needs as much
                raise
            return None
        if cancel.is_set():
            raise GenerationError("cancelled")
        if audio.finish_reason != STOP:
            return None
        return audio.codes, max(audio.seconds / expected, expected / audio.seconds)

    def _explain(self, name: str | None, what: str) -> None:
        if name is not None and name not in self._explained:
            self._explained.add(name)
            self._log(f"there is no saved voice {name}: {what}; to choose it, save a voice under that name")
