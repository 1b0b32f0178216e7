"""What the answers are: the model's names, its voices, and speech as bytes, a bounded number of requests at a time.

Knows the Synthesizer's public face; no HTTP but the numbers of `Refused`.
"""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from ..errors import GenerationError, S2Error, UsageError, VoiceError
from ..speech import CANCELLED, LENGTH, Stats
from ..voice import Voice, VoiceLibrary
from .protocol import Refused, SpeechRequest
from .sound import encoder
from .voices import Cancelled, Voices

RETRY_SECONDS = 5
_SLICE = 48 * 1024  # bytes
# OpenAI's models, with the dates of their versions.
_OPENAI_MODELS = re.compile(r"(tts-1|tts-1-hd|gpt-4o-mini-tts)(-\d{4}(-\d\d-\d\d)?)?")


class Service:
    """One model and who waits for it.

    name: what the model is called; also: other names it answers to. voice: the default one; clip: where its recording
    lies, if that is kept outside the library. waiting: requests that may wait while one is served. log(text) hears what the person at the terminal should know.
    """

    def __init__(self, tts, name: str, *, also: tuple[str, ...] = (), voice: Voice | None = None,
                 clip: Path | None = None, waiting: int = 8,
                 library: VoiceLibrary | None = None, log: Callable[[str], None] = lambda text: None):
        self._tts, self._name, self._names = tts, name, {name, *also}
        self._voices = Voices(tts, library or VoiceLibrary(), voice, log, clip)
        self._most, self._log, self._began = 1 + waiting, log, int(time.time())
        self._here: list[threading.Event] = []
        self._lock = threading.Lock()

    def health(self) -> dict:
        with self._lock:
            return {"status": "ok", "model": self._name, "requests": self._present()}

    def models(self) -> dict:
        return {"object": "list", "data": [self.model(self._name)]}

    def model(self, name: str | None) -> dict:
        """What is known of a model; None is the served one. Raises `Refused` (404) for a name it does not answer to."""
        if name is not None and name not in self._names and not _OPENAI_MODELS.fullmatch(name):
            raise Refused(404, f"the model {name[:80]!r} is not served here; this is {self._name}", param="model",
                          code="model_not_found")
        return {"id": self._name, "object": "model", "created": self._began, "owned_by": "s2mlx"}

    def voices(self) -> dict:
        return {"voices": [{"id": name, "name": name} for name in self._voices.names()]}

    @contextmanager
    def place(self, gone: threading.Event) -> Iterator[None]:
        """A place among the requests that are served or wait, while the block runs; `gone` frees it earlier. Raises
        `Refused` (503) when all are taken."""
        with self._lock:
            if self._present() >= self._most:
                raise Refused(503, f"{self._most} requests are being served or wait; try again later",
                              code="server_busy", headers={"Retry-After": str(RETRY_SECONDS)})
            self._here.append(gone)
        try:
            yield
        finally:
            with self._lock:
                self._here.remove(gone)

    def speak(self, request: SpeechRequest, cancel: threading.Event) -> Speech:
        """Returns when there is sound, or raises `Refused` with why there is none, or `Cancelled`."""
        self.model(request.model)
        try:
            voice = self._voices.get(request.voice, cancel)
            return Speech(self._tts, request, voice, cancel, self._log)
        except (Refused, Cancelled):
            raise
        except S2Error as fault:
            if cancel.is_set():
                raise Cancelled from None
            raise _refusal(fault) from fault

    def _present(self) -> int:
        return sum(not gone.is_set() for gone in self._here)


class Speech:
    """The sound of one request, under way. Iterate over its bytes; `close` stops it.

    content_type; seed; `seconds` of sound handed over so far; `stats` of the engine.
    """

    def __init__(self, tts, request: SpeechRequest, voice: Voice, cancel: threading.Event, log):
        self._encoder = encoder(request.format, tts.sample_rate)
        self._events, self._log, self._rate = request.events, log, tts.sample_rate
        self.content_type = "text/event-stream" if request.events else self._encoder.content_type
        self.stats, self._samples, self._began = Stats(), 0, time.monotonic()
        self._cut = False
        self._chunks = tts.stream(request.text, voice=voice, options=request.options, cancel=cancel, lead=self._lead)
        try:
            self._first = self._until_sound()
        except BaseException:
            self.close()
            raise
        self._began = time.monotonic()

    @property
    def seed(self) -> int:
        return self.stats.seed

    @property
    def seconds(self) -> float:
        return self._samples / self._rate

    def __iter__(self) -> Iterator[bytes]:
        """Raises `Cancelled`, or `S2Error` when the model fails amid speech."""
        pieces = self._pieces()
        yield from self._as_events(pieces) if self._events else pieces
        if self._cut:
            self._log("the limit of frames, not the model, ended the speech of a request; max_frames raises it")

    def close(self) -> None:
        self._chunks.close()

    def _until_sound(self):
        for chunk in self._chunks:
            self._check(chunk)
            if len(chunk.samples):
                return chunk
        raise Refused(500, "the model ended the speech before its first sound; try another seed, or min_frames 20")

    def _pieces(self) -> Iterator[bytes]:
        for chunk in chain([self._first], self._chunks):
            self._check(chunk)
            self._samples += len(chunk.samples)
            yield from _slices(self._encoder.add(chunk.samples))
        yield from _slices(self._encoder.end())

    def _check(self, chunk) -> None:
        self.stats = chunk.stats
        if chunk.finish_reason == CANCELLED:
            raise Cancelled
        self._cut |= chunk.finish_reason == LENGTH

    def _as_events(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            for data in pieces:
                yield _event({"type": "speech.audio.delta", "audio": base64.b64encode(data).decode()})
        except S2Error as fault:
            yield _event({"type": "error", **_refusal(fault).body()})
            raise
        tokens = {"input_tokens": self.stats.prompt_tokens, "output_tokens": self.stats.frames}
        yield _event({"type": "speech.audio.done", "usage": {**tokens, "total_tokens": sum(tokens.values())}})

    def _lead(self) -> float:
        """Seconds of sound ahead of a player that began with the first piece. At most a minute is told: the model waits
        for a listener far behind, and who downloads a long text is none."""
        return min(self.seconds - (time.monotonic() - self._began), 60.0)


def _slices(data: bytes) -> Iterator[bytes]:
    """Pieces that a slow client takes in time; none of nothing."""
    for begin in range(0, len(data), _SLICE):
        yield data[begin:begin + _SLICE]


def _event(content: dict) -> bytes:
    return b"data: " + json.dumps(content).encode() + b"\n\n"


def _refusal(fault: S2Error) -> Refused:
    """Whose fault it is: the request's, or the server's. Of those of generation, running out of memory has a cause."""
    if isinstance(fault, (UsageError, VoiceError)) or isinstance(fault, GenerationError) and fault.__cause__ is None:
        return Refused(400, str(fault), param="voice" if isinstance(fault, VoiceError) else None)
    return Refused(500, str(fault))
