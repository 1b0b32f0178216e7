"""What the answers are: the model's names, its voices, and speech as bytes, a bounded number of requests at a time."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

from ..errors import S2Error
from ..listen import check_ear
from ..speech_input import SpeechInput
from ..synthesizer import Synthesizer
from ..text import notes
from ..voices import Voice, VoiceLibrary, printable
from .refused import Refused, busy
from .speech import Speech, refusal
from .speech_request import SpeechRequest, parse_manner, parse_speech
from .voices import Voices

_MOST_NOTES = 100
# OpenAI's models, with the dates of their versions.
_OPENAI_MODELS = re.compile(r"(tts-1|tts-1-hd|gpt-4o-mini-tts)(-\d{4}(-\d\d-\d\d)?)?")


class Service:
    """One model and who waits for it.

    name: what the model is called; also: other names it answers to. voice: the default one; clip: where its recording
    lies, if that is kept outside the library. waiting: requests that may wait while one is served. strict: refuse what
    clients ask for in vain, rather than leave it aside. log(text) hears what the person at the terminal should know.
    """

    def __init__(
        self,
        tts: Synthesizer,
        name: str,
        *,
        also: tuple[str, ...] = (),
        voice: Voice | None = None,
        clip: Path | None = None,
        waiting: int = 8,
        strict: bool = False,
        library: VoiceLibrary | None = None,
        log: Callable[[str], None] = lambda text: None,
    ):
        self._tts, self._name, self._names = tts, name, {name, *also}
        self._voices = Voices(tts, library or VoiceLibrary(), voice, log, clip)
        self._most, self._here = 1 + waiting, 0
        self._log, self._began, self._strict = log, int(time.time()), strict
        self._noted: set[str] = set()
        self._speeches: WeakSet[Speech] = WeakSet()  # a thread that works for one holds it
        # Both let one in at a time, in the order they came; who is cancelled while waiting leaves at once. The engine
        # has a queue of its own, in which who left would stay until its turn: none is put into it before it is free.
        self._choosing, self._engine = asyncio.Lock(), asyncio.Lock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def tts(self) -> Synthesizer:
        return self._tts

    def health(self) -> dict[str, Any]:
        return {"status": "ok", "model": self._name, "requests": self._here}

    def models(self) -> dict[str, Any]:
        return {"object": "list", "data": [self.model(self._name)]}

    def audio_models(self) -> dict[str, Any]:
        """The same in the form that Open WebUI asks for."""
        return {"models": [{"id": self._name}]}

    def model(self, name: str) -> dict[str, Any]:
        """What is known of a model. Raises `Refused` (404) for one that is not served."""
        if not self._serves(name):
            raise self._not_served(name)
        return {"id": name, "object": "model", "created": self._began, "owned_by": "s2mlx"}

    def voices(self) -> dict[str, Any]:
        return {"voices": [{"id": name, "name": name} for name in self.voice_names()]}

    def voice_names(self) -> list[str]:
        """The saved and built-in voices that the model can speak with. Looks at files."""
        return self._voices.names()

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place among the requests that are served or wait, while the block runs. Raises `Refused` (503) when all are
        taken."""
        if self._here >= self._most:
            raise busy(f"{self._most} requests are being served or wait")
        self._here += 1
        try:
            yield
        finally:
            self._here -= 1

    def wanted(self, body: bytes) -> SpeechRequest:
        """The request in a JSON body. Raises `Refused`."""
        request = parse_speech(body, strict=self._strict)
        self._look_at(request)
        for line in notes(request.text, self._tts.config):
            self._note(printable(line))
        return request

    def wanted_of(self, fields: dict[str, Any]) -> SpeechRequest:
        """How to speak a text that comes later, of the fields that say so. Raises `Refused`."""
        request = parse_manner(fields, strict=self._strict)
        self._look_at(request)
        return request

    def _look_at(self, request: SpeechRequest) -> None:
        """Refuse a check where nobody can hear, and note what is left aside."""
        if request.options.check:
            try:
                check_ear(self._tts.ear)
            except S2Error as fault:  # a variable that names no recognizer, too
                raise Refused(400, f"check is not possible here: {fault}", param="check") from fault
        for name in request.ignored:
            self._note(f"a client's field {printable(name[:80])!r} means nothing here and was left aside")

    async def speak(self, request: SpeechRequest, text: SpeechInput | None = None) -> Speech:
        """Returns when there is sound, or raises `Refused` with why there is none. To be closed; one that is cancelled
        here is. text: in the place of the request's, one that is still being written; while it waits for more, others
        are served."""
        self._check_model(request.model)
        cancel = threading.Event()
        try:
            async with self._choosing:
                voice = await asyncio.to_thread(self._voices.get, request.voice, cancel)
            if text is not None:  # others are served while it is waited for: the engine's own queue sees to that
                speech = Speech(self._tts, request, voice, cancel, self._log, text=text)
                self._speeches.add(speech)
                return await speech.begun()
            await self._engine.acquire()
            try:
                speech = Speech(self._tts, request, voice, cancel, self._log, made=self._engine.release)
                self._speeches.add(speech)
            except BaseException:
                self._engine.release()
                raise
            return await speech.begun()
        except S2Error as fault:
            raise refusal(fault) from fault
        except BaseException:
            cancel.set()
            raise

    def join(self, seconds: float) -> None:
        """Wait, so long at most, until no thread works for requests that have ended: one that the interpreter's end
        finds at work keeps what it holds for ever, of which libraries complain. Called by any other thread."""
        deadline = time.monotonic() + seconds
        for speech in list(self._speeches):
            speech.join(max(deadline - time.monotonic(), 0))

    def _note(self, text: str) -> None:
        """Said once: clients repeat themselves."""
        if text not in self._noted and len(self._noted) < _MOST_NOTES:
            self._noted.add(text)
            self._log(text)

    def _check_model(self, name: str | None) -> None:
        """Clients send the names they know: kokoro, tts, ... The served model speaks all the same."""
        if name is None or self._serves(name):
            return
        if self._strict:
            raise self._not_served(name)
        self._note(f"a client asked for the model {printable(name[:80])!r}: {self._name} speaks")

    def _serves(self, name: str) -> bool:
        """By its own names, and by those of OpenAI's models, for which it stands."""
        return name in self._names or bool(_OPENAI_MODELS.fullmatch(name))

    def _not_served(self, name: str) -> Refused:
        return Refused(
            404,
            f"the model {name[:80]!r} is not served here; this is {self._name}",
            param="model",
            code="model_not_found",
        )
