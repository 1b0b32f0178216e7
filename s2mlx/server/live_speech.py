"""Speech of a text that is still being written, over a WebSocket: JSON comes in, sound and JSON go out.

A client says how it wants it (the fields of `/v1/audio/speech` without `input`), then the text in pieces of any size,
`{"text": ...}`; `{"flush": true}` has what came so far spoken at once, `{"done": true}` is the end of it. Then the next
may begin. Out go `start`, `span` before the sound of each pass, the sound as binary frames, and `done`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, closing, suppress
from typing import Any

from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..errors import S2Error
from ..results import AudioChunk
from ..speech_input import SpeechInput
from ..worker import Closed
from .access import PROTOCOL
from .connection import WRITE_SECONDS
from .refused import Refused
from .service import Service
from .socket import QUIET
from .speech import Speech, in_time, refusal
from .speech_request import Fields, SpeechRequest, parse_object, piece_of_text

IDLE_SECONDS = 600.0  # between two speeches
TEXT_SECONDS = 60.0  # amid a text, without a piece of it
_WORDS = ("text", "flush", "done")


class LiveSpeech:
    """The endpoint. log, fault: as of the server."""

    def __init__(self, service: Service, log: Callable[[str], None], fault: Callable[[BaseException], None]):
        self._service, self._log, self._fault = service, log, fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept(PROTOCOL if PROTOCOL in socket.scope["subprotocols"] else None)
        try:
            await _Talk(socket, self._service, self._log).run()
            return
        except (WebSocketDisconnect, TimeoutError, ConnectionError):  # gone, silent, or not reading
            return
        except Refused as refused:
            self._log(f"refused ({refused.status}): {refused}")
            last = refused
        except S2Error as fault:
            self._log(f"a request failed amid speech: {fault}")
            last = refusal(fault)
        except Exception as fault:  # a fault of ours: the client is told, and so is the terminal
            self._fault(fault)
            last = Refused(500, "the server failed; its terminal says why")
        with suppress(WebSocketDisconnect, TimeoutError, ConnectionError):  # gone, or not reading
            await _send(socket.send_json({"type": "error", **last.body()}))
            await _send(socket.close(1008 if last.status < 500 else 1013 if last.status == 503 else 1011))


class _Talk:
    """One connection: what comes is read all the time, so that its end shows; speeches follow each other."""

    def __init__(self, socket: WebSocket, service: Service, log: Callable[[str], None]):
        self._socket, self._service, self._log = socket, service, log
        self._quiet: Callable[[bool], None] = socket.scope["state"].get(QUIET, lambda quiet: None)
        self._half = ""  # the first half of a character whose second comes with the next piece

    async def run(self) -> None:
        while True:
            self._quiet(True)
            first = await self._hear(IDLE_SECONDS)
            self._quiet(False)
            await self._serve(first)

    async def _serve(self, first: Fields) -> None:
        """One speech, from its first message to its end."""
        manner = {name: value for name, value in first.items() if name not in _WORDS}
        wanted, self._half = self._service.wanted_of(manner), ""
        if wanted.events:
            raise Refused(400, "a WebSocket has events of its own: leave stream_format out", param="stream_format")
        text = SpeechInput()
        with self._service.place(), text:
            reader = asyncio.create_task(self._read(first, text), name="s2mlx-live-text")
            speaker = asyncio.create_task(self._speak(wanted, text), name="s2mlx-live-speech")
            try:
                done, _ = await asyncio.wait([reader, speaker], return_when=asyncio.FIRST_EXCEPTION)
                for task in sorted(done, key=lambda task: task is speaker):  # why the text broke off explains the rest
                    task.result()
            finally:
                text.close()
                for task in (reader, speaker):
                    task.cancel()
                await asyncio.gather(reader, speaker, return_exceptions=True)

    async def _read(self, message: Fields, text: SpeechInput) -> None:
        """Pieces of the text, until it is done."""
        first = True
        while True:
            if not first and (strange := [name for name in message if name not in _WORDS]):
                raise Refused(400, f"{strange[0][:80]!r} came amid a text: say it with, or before, its first piece")
            first = False
            try:
                if "text" in message and (piece := self._whole(piece_of_text(message))):
                    while text.full:  # the client waits too, since nothing more is read
                        await asyncio.sleep(0.05)
                    text.write(piece)
                if message.get("flush") is True:
                    text.flush()
            except Closed:  # the speech has ended; what it ended with is told by who speaks
                return
            if message.get("done") is True:
                text.close()
                return
            try:
                message = await self._hear(TEXT_SECONDS)
            except TimeoutError:
                raise Refused(408, "the rest of the text did not arrive in time") from None

    async def _speak(self, wanted: SpeechRequest, text: SpeechInput) -> None:
        try:
            speech = await self._service.speak(wanted, text)
        except asyncio.CancelledError:
            self._log("a request was left before its first sound: its client is gone, or the server is stopping")
            raise
        with closing(speech):
            try:
                await self._send_all(speech, wanted.format)
            except (asyncio.CancelledError, TimeoutError, ConnectionError, WebSocketDisconnect):
                self._log(
                    f"a request was left after {speech.seconds:.1f} s of speech: its client is gone or does not read, "
                    "or the server is stopping"
                )
                raise
        rate = speech.stats.rtf or 0
        self._log(f"{speech.seconds:.1f} s of speech as {wanted.format} by WebSocket, real-time factor {rate:.2f}")

    async def _send_all(self, speech: Speech, form: str) -> None:
        start = {"type": "start", "seed": speech.seed, "format": form, "content_type": speech.content_type}
        await self._send_json(start)
        part, chunk = -1, None
        async with aclosing(in_time(speech, speech.parts())) as parts:
            async for of, data in parts:
                if of is not None and of is not chunk:
                    chunk = of
                    if of.part > part and len(of.samples):
                        part = of.part
                        await self._send_json(_span(of, speech.tally.seconds - len(of.samples) / of.sample_rate))
                if data:
                    await _send(self._socket.send_bytes(data))
        end = {"seconds": round(speech.tally.seconds, 3), "finish_reason": speech.tally.finish_reason}
        await self._send_json({"type": "done", **end, **speech.heard})

    async def _hear(self, seconds: float) -> Fields:
        async with asyncio.timeout(seconds):
            message: Message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        words = message.get("text")
        if words is None:
            raise Refused(400, 'messages are JSON as text, such as {"text": "Hello."}')
        return parse_object(words.encode(), "a message")

    def _whole(self, piece: str) -> str:
        """JavaScript may cut a character between its two halves: they are put together."""
        piece, self._half = self._half + piece, ""
        if piece and 0xD800 <= ord(piece[-1]) < 0xDC00:
            piece, self._half = piece[:-1], piece[-1]
        return piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    async def _send_json(self, content: dict[str, Any]) -> None:
        await _send(self._socket.send_json(content))


def _span(chunk: AudioChunk, at: float) -> dict[str, Any]:
    """Which characters of the text so far the sound speaks that follows, and when it begins, in seconds."""
    return {"type": "span", "part": chunk.part, "span": list(chunk.span), "text": chunk.text, "at": round(at, 3)}


async def _send(sending: Any) -> None:
    async with asyncio.timeout(WRITE_SECONDS):
        await sending
