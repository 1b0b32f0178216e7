"""What the answers are: the model's names, its voices, and speech as bytes, a bounded number of requests at a time.

Knows the Synthesizer's public face; no HTTP but the numbers of `Refused`.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import S2Error
from ..voices import Voice, VoiceLibrary
from .protocol import Refused, SpeechRequest
from .speech import Speech, refusal
from .turns import Turns
from .voices import Cancelled, Voices

RETRY_SECONDS = 5
# OpenAI's models, with the dates of their versions.
_OPENAI_MODELS = re.compile(r"(tts-1|tts-1-hd|gpt-4o-mini-tts)(-\d{4}(-\d\d-\d\d)?)?")


class Service:
    """One model and who waits for it.

    name: what the model is called; also: other names it answers to. voice: the default one; clip: where its recording
    lies, if that is kept outside the library. waiting: requests that may wait while one is served. log(text) hears what
    the person at the terminal should know.
    """

    def __init__(
        self,
        tts,
        name: str,
        *,
        also: tuple[str, ...] = (),
        voice: Voice | None = None,
        clip: Path | None = None,
        waiting: int = 8,
        library: VoiceLibrary | None = None,
        log: Callable[[str], None] = lambda text: None,
    ):
        self._tts, self._name, self._names = tts, name, {name, *also}
        self._voices = Voices(tts, library or VoiceLibrary(), voice, log, clip)
        self._most, self._log, self._began = 1 + waiting, log, int(time.time())
        self._turns, self._here = Turns(), []
        self._lock = threading.Lock()

    def health(self) -> dict:
        with self._lock:
            return {"status": "ok", "model": self._name, "requests": self._present()}

    def models(self) -> dict:
        return {"object": "list", "data": [self.model(self._name)]}

    def model(self, name: str | None) -> dict:
        """What is known of a model; None is the served one. Raises `Refused` (404) for a name it does not answer to."""
        if name is not None and name not in self._names and not _OPENAI_MODELS.fullmatch(name):
            raise Refused(
                404,
                f"the model {name[:80]!r} is not served here; this is {self._name}",
                param="model",
                code="model_not_found",
            )
        return {"id": self._name, "object": "model", "created": self._began, "owned_by": "s2mlx"}

    def voices(self) -> dict:
        return {"voices": [{"id": name, "name": name} for name in self._voices.names()]}

    @contextmanager
    def place(self, gone: threading.Event) -> Iterator[None]:
        """A place among the requests that are served or wait, while the block runs; `gone` frees it earlier. Raises
        `Refused` (503) when all are taken."""
        with self._lock:
            if self._present() >= self._most:
                raise Refused(
                    503,
                    f"{self._most} requests are being served or wait; try again later",
                    code="server_busy",
                    headers={"Retry-After": str(RETRY_SECONDS)},
                )
            self._here.append(gone)
        try:
            yield
        finally:
            with self._lock:
                self._here.remove(gone)

    def speak(self, request: SpeechRequest, cancel: threading.Event) -> Speech:
        """Returns when there is sound, or raises `Refused` with why there is none, or `Cancelled`. `cancel` ends it, and
        is set when the `Speech` is closed early."""
        self.model(request.model)
        try:
            voice = self._voices.get(request.voice, cancel)
            turn = self._turns.wait(cancel)
            try:
                return Speech(self._tts, request, voice, cancel, self._log, made=turn.end)
            except BaseException:
                turn.end()
                raise
        except (Refused, Cancelled):
            raise
        except S2Error as fault:
            if cancel.is_set():
                raise Cancelled from None
            raise refusal(fault) from fault

    def _present(self) -> int:
        return sum(not gone.is_set() for gone in self._here)
