"""The speech of one request: the engine's chunks -> bytes of a format, or events, as fast as the client takes them."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import Any, TypeVar

from ..errors import GenerationError, S2Error, UsageError, VoiceError
from ..results import CANCELLED, AudioChunk, Stats, Tally
from ..speech_input import SpeechInput
from ..synthesizer import Synthesizer
from ..voices import Voice
from .ahead import Ahead
from .refused import Refused
from .sound import encoder
from .speech_request import SpeechRequest

MOST_WAITING = 180.0  # seconds of sound that a slow client leaves here, 32 MB, before the model waits
# A reader must keep half the pace of speech; this many seconds it may be late.
PATIENCE = 30.0
_SLICE = 48 * 1024  # bytes
_DRY = 1.0  # seconds that a player may be behind
_T = TypeVar("_T")


class Speech:
    """The sound of one request, under way from when it is made, in the loop it is made in. Await `begun`, iterate over
    its bytes; `close` stops it, by setting `cancel`.

    made() is called in the loop when the engine has no more to do for it, which may be long before the client has all.
    text: still being written, in the place of the request's. content_type; seed; `seconds` of sound handed over so
    far; `tally` of the chunks so far, `stats` of the engine.
    """

    def __init__(
        self,
        tts: Synthesizer,
        request: SpeechRequest,
        voice: Voice,
        cancel: threading.Event,
        log: Callable[[str], None],
        made: Callable[[], None] = lambda: None,
        text: SpeechInput | None = None,
    ):
        self._encoder = encoder(request.format, tts.sample_rate)
        self._events, self._log, self._rate = request.events, log, tts.sample_rate
        self.content_type = "text/event-stream" if request.events else self._encoder.content_type
        self.tally, self._cancel = Tally(), cancel
        self._checked = request.options.check
        self._samples = self._spoken = 0  # the second without pauses
        self._frame_samples, self._began, self._ahead = tts.frame_samples, time.monotonic(), Ahead()
        self._first: AudioChunk | None = None
        chunks = tts.stream(text or request.text, voice=voice, options=request.options, cancel=cancel, lead=self._lead)
        self._ahead.take(chunks, made)

    async def begun(self) -> Speech:
        """Itself, when there is sound. Raises `Refused` if none comes, or what the model fails with."""
        async for chunk in self._ahead:
            self._look_at(chunk)
            if len(chunk.samples):
                self._first, self._began = chunk, time.monotonic()
                return self
        raise Refused(500, "the model ended the speech before its first sound; try another seed, or min_frames 20")

    @property
    def stats(self) -> Stats:
        return self.tally.stats

    @property
    def heard(self) -> dict[str, int]:
        """Of a request that asks for a check, so far: how many passes were heard, and how many of these were not heard
        as they are written."""
        if not self._checked:
            return {}
        return {
            "heard": sum(one.heard is not None for one in self.tally.passes),
            "wrong": len(self.tally.wrong),
        }

    @property
    def seed(self) -> int:
        return self.stats.seed

    @property
    def seconds(self) -> float:
        return self._samples / self._rate

    @property
    def pace(self) -> float:
        """Seconds that a reader who keeps the pace of speech takes for them. Pauses, which a request has for nothing,
        count for no more than there is speech."""
        return min(self._samples, 2 * self._spoken) / self._rate

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Raises `S2Error` when the model fails amid speech."""
        pieces = self._pieces()
        async for data in self._as_events(pieces) if self._events else pieces:
            yield data

    def close(self) -> None:
        if not self._ahead.ended:
            self._cancel.set()

    def join(self, seconds: float) -> None:
        """Wait, so long at most, until no thread works for it any more."""
        self._ahead.join(seconds)

    async def parts(self) -> AsyncGenerator[tuple[AudioChunk | None, bytes], None]:
        """The bytes, each with the chunk that it is of; what the encoder has left at the end, with None. Encoding,
        which may take a while, is done beside the loop."""
        async for chunk in self._chunks():
            # a player that ran dry while text was waited for goes on with this piece
            self._began = max(self._began, time.monotonic() - self.seconds - _DRY)
            self._samples += len(chunk.samples)
            self._spoken += chunk.frames * self._frame_samples
            encoded = await asyncio.to_thread(self._encoder.add, chunk.samples)
            for data in _slices(encoded) if encoded else (b"",):
                yield chunk, data
        for data in _slices(await asyncio.to_thread(self._encoder.end)):
            yield None, data
        if self.tally.cut:
            self._log("the limit of frames, not the model, ended the speech of a request; max_frames raises it")
        if self.tally.wrong:
            passes = f"{len(self.tally.wrong)} of {len(self.tally.passes)} passes"
            self._log(f"{passes} of a request were not heard as they are written")

    async def _pieces(self) -> AsyncIterator[bytes]:
        async for _, data in self.parts():
            if data:
                yield data

    async def _chunks(self) -> AsyncIterator[AudioChunk]:
        if self._first is not None:
            yield self._first
        async for chunk in self._ahead:
            self._look_at(chunk)
            yield chunk

    def _look_at(self, chunk: AudioChunk) -> None:
        self.tally.add(chunk)
        if chunk.finish_reason == CANCELLED:  # by the end of the engine: who cancels here does not read on
            raise GenerationError("the model was closed")

    async def _as_events(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        try:
            async for data in pieces:
                yield _event({"type": "speech.audio.delta", "audio": base64.b64encode(data).decode()})
        except S2Error as fault:
            yield _event({"type": "error", **refusal(fault).body()})
            raise
        tokens = {"input_tokens": self.stats.prompt_tokens, "output_tokens": self.stats.frames}
        yield _event(
            {"type": "speech.audio.done", "usage": {**tokens, "total_tokens": sum(tokens.values())}, **self.heard}
        )

    def _lead(self) -> float:
        """Seconds of sound ahead of a player that began with the first piece: what it has, and what waits here for it.
        Of what it has at most a minute is told: the model waits for a listener far behind, and who downloads a long
        text is none. When too much waits here, the model is to wait in any case."""
        waiting = self._ahead.waiting
        if waiting > MOST_WAITING:
            return math.inf
        return waiting + min(self.seconds - (time.monotonic() - self._began), 60.0)


def paced(speech: Speech) -> AsyncGenerator[bytes, None]:
    """The bytes of a speech; `TimeoutError` for a reader that is too slow for it."""
    return in_time(speech, aiter(speech))


async def in_time(speech: Speech, items: AsyncIterator[_T]) -> AsyncGenerator[_T, None]:
    """The same of anything that is made of a speech."""
    blocked = 0.0
    async for item in items:
        before = time.monotonic()
        yield item  # comes back when the client has taken nearly all
        blocked += time.monotonic() - before
        if blocked > PATIENCE + 2 * speech.pace:
            raise TimeoutError


def _slices(data: bytes) -> Iterator[bytes]:
    """Pieces that a slow client takes in time; none of nothing."""
    for begin in range(0, len(data), _SLICE):
        yield data[begin : begin + _SLICE]


def _event(content: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(content).encode() + b"\n\n"


def refusal(fault: S2Error) -> Refused:
    """Whose fault it is: the request's, or the server's. Of those of generation, running out of memory has a cause."""
    if isinstance(fault, (UsageError, VoiceError)) or isinstance(fault, GenerationError) and fault.__cause__ is None:
        return Refused(400, str(fault), param="voice" if isinstance(fault, VoiceError) else None)
    return Refused(500, str(fault))
