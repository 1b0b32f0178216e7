"""The same service for Wyoming, the protocol of Home Assistant's voices: JSON lines and sound over bare TCP.

Needs the package `wyoming`, which nothing else imports.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import aclosing, closing, suppress
from typing import cast

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable, async_read_event, async_write_event
from wyoming.info import Describe
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped

from ..errors import S2Error
from .connection import STOP_SECONDS, WRITE_SECONDS, LeaveTaking
from .refused import Refused, busy
from .service import Service
from .speech import paced, refusal
from .speech_request import plain_speech
from .written_text import WrittenText, late
from .wyoming_info import DEFAULT_VOICE, info

MOST_CLIENTS = 100
IDLE_SECONDS = 600.0  # without a request, or before the first sentence of one: clients keep a connection for later
TEXT_SECONDS = 60.0  # amid a text that comes in pieces, without any of it or of its sound
_EVENT_BYTES = 256 * 1024
_MOST_ASKED = 8  # requests at once on one connection
_NO_EVENT = "this is no event of Wyoming, which is spoken here; the HTTP API has another port"


class Wyoming:
    """Answers clients by `service`, in the loop that it is started in, from `start` until `stop`. log(text) hears of
    requests, fault(exception) of faults of ours."""

    def __init__(self, service: Service, log: Callable[[str], None], fault: Callable[[BaseException], None]):
        self.service, self.log, self.fault, self.stopping = service, log, fault, False
        self.silent: dict[_Client, None] = {}  # those without a request, the longest first
        self._clients: dict[asyncio.Task[None], _Client] = {}
        self._servers: list[asyncio.Server] = []

    async def start(self, sockets: list[socket.socket]) -> None:
        loop = asyncio.get_running_loop()
        make = lambda: asyncio.StreamReaderProtocol(_Reader(limit=_EVENT_BYTES), self._meet)
        self._servers = [await loop.create_server(make, sock=one) for one in sockets]

    async def stop(self) -> None:
        """End all requests, with a last word to who waits for one. Returns soon."""
        self.stopping = True
        for server in self._servers:
            server.close()
        for task in self._clients:
            task.cancel()
        if self._clients:
            await asyncio.wait(list(self._clients), timeout=STOP_SECONDS)
        for client in list(self._clients.values()):
            client.abort()

    def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _Client(self, reader, writer)
        full = len(self._clients) >= MOST_CLIENTS and not self._make_room()
        if not full:
            self.silent[client] = None  # from the first, since a flood comes all at once
        task = asyncio.create_task(client.refuse() if full else client.run(), name="s2mlx-wyoming")
        self._clients[task] = client
        task.add_done_callback(self._clients.pop)

    def _make_room(self) -> bool:
        """Let the client go that has been silent longest; False if none is."""
        if not self.silent:
            return False
        longest = next(iter(self.silent))
        del self.silent[longest]
        longest.abort()
        return True


class _Reader(asyncio.StreamReader):
    async def readexactly(self, n: int) -> bytes:
        if n > _EVENT_BYTES:
            raise ValueError(f"more than {_EVENT_BYTES} bytes")  # to the package that is no event
        return await super().readexactly(n)


class _Client:
    """One connection: what comes is read all the time, so that its end shows; what is asked for is spoken in turn."""

    def __init__(self, server: Wyoming, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._server, self._service, self._reader, self._writer = server, server.service, reader, writer
        self._asked: asyncio.Queue[WrittenText] = asyncio.Queue()
        self._open: WrittenText | None = None  # whose text still comes
        self._waits = False  # for the answer to a request
        connection: socket.socket = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    async def run(self) -> None:
        """The whole of it. Whatever fails ends it: clients wait for the end of a sound that will not come, or else for
        that of the connection."""
        jobs = [asyncio.create_task(self._listen()), asyncio.create_task(self._speak())]
        last: Refused | None = None
        try:
            done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
            for job in done:
                job.result()
        except asyncio.CancelledError:  # only by the end of the server
            last = Refused(503, "the server is stopping") if self._waits else None
        except Refused as refused:
            self._server.log(f"refused ({refused.status}): {refused}")
            last = refused
        except S2Error as fault:
            self._server.log(f"a request failed amid speech: {fault}")
            last = refusal(fault)
        except (ConnectionError, TimeoutError):  # gone, silent, or not reading
            pass
        except Exception as fault:  # a fault of ours: the client is told, and so is the terminal
            self._server.fault(fault)
            last = Refused(500, "the server failed; its terminal says why")
        self._server.silent.pop(self, None)
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        await self._end(last)

    async def refuse(self) -> None:
        refused = busy(f"{MOST_CLIENTS} clients are being served")
        self._server.log(f"refused ({refused.status}): {refused}")
        await self._end(refused)

    def abort(self) -> None:
        self._writer.transport.abort()

    async def _end(self, last: Refused | None) -> None:
        """The last word, for which nobody waits long, and the end."""
        transport = cast(asyncio.Transport, self._writer.transport)
        if last is None or transport.is_closing():
            transport.close()
            return
        kind = last.code or last.body()["error"]["type"]
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await async_write_event(Error(text=str(last), code=kind).event(), self._writer)
        if self._server.stopping:
            transport.close()
        else:
            LeaveTaking(transport, asyncio.get_running_loop()).close()

    async def _listen(self) -> None:
        """Until the client sends no more, also if it would still read: as with HTTP, that ends its requests."""
        while (event := await self._event()) is not None:
            await self._hear(event)

    async def _event(self) -> Event | None:
        try:
            event = await async_read_event(self._reader)
        except asyncio.IncompleteReadError:
            return None
        except (AttributeError, KeyError, TypeError, RecursionError):  # JSON, but not of the shape
            raise Refused(400, _NO_EVENT) from None
        if event is None:
            if self._reader.at_eof():
                return None
            raise Refused(400, _NO_EVENT)
        if not (isinstance(event.type, str) and isinstance(event.data, dict)):
            raise Refused(400, _NO_EVENT)
        return event

    async def _hear(self, event: Event) -> None:
        """Events that are none of ours are left aside, as the protocol wants it."""
        if Describe.is_type(event.type):
            await self._send(await asyncio.to_thread(info, self._service))
        elif Ping.is_type(event.type):
            await self._send(Pong(event.data.get("text")))
        elif SynthesizeStart.is_type(event.type):
            if self._open is not None:
                raise Refused(400, "synthesize-start came twice without synthesize-stop between")
            self._open = await self._ask(event, streamed=True)
        elif SynthesizeChunk.is_type(event.type):
            self._still_open(event).add(_text(event))
        elif SynthesizeStop.is_type(event.type):
            self._still_open(event).end()
            self._open = None
        elif Synthesize.is_type(event.type) and self._open is None:  # amid a stream it repeats all, for who knows none
            text = await self._ask(event, streamed=False)
            text.add(_text(event))
            text.end()

    def _still_open(self, event: Event) -> WrittenText:
        if self._open is None:
            raise Refused(400, f"{event.type} came without synthesize-start")
        return self._open

    async def _ask(self, event: Event, *, streamed: bool) -> WrittenText:
        if self._asked.qsize() >= _MOST_ASKED:
            raise busy(f"{_MOST_ASKED} requests wait on this connection")
        if event.data.get("text_format") not in (None, "text"):
            raise Refused(400, "the text must be plain: SSML is not understood here")
        voice = event.data.get("voice") or {}
        name = voice.get("name") if isinstance(voice, dict) else None
        if name == DEFAULT_VOICE and name not in await asyncio.to_thread(self._service.voice_names):
            name = None
        text = WrittenText(name, streamed=streamed, tags=self._service.tts.config.tags)
        self._asked.put_nowait(text)
        return text

    async def _speak(self) -> None:
        """Answer the requests in turn."""
        while True:
            self._waits = False
            self._server.silent[self] = None
            async with asyncio.timeout(IDLE_SECONDS):
                text = await self._asked.get()
            await self._answer(text)

    async def _answer(self, text: WrittenText) -> None:
        """All sound of a request is one stream to the client, however many sentences it is made of."""
        self._waits = True
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                has_words = await text.begun()
        except TimeoutError:
            raise late() from None
        if has_words:
            self._server.silent.pop(self, None)
            with self._service.place():
                await self._say(text)
        if text.streamed:
            await self._send(SynthesizeStopped())

    async def _say(self, text: WrittenText) -> None:
        rate = self._service.tts.sample_rate
        speech = None
        text.watch(TEXT_SECONDS)
        try:
            speech = await self._service.speak(
                plain_speech(text.text, text.voice), text.input if text.streamed else None
            )
            with closing(speech):
                await self._send(AudioStart(rate, 2, 1))
                async with aclosing(paced(speech)) as pieces:
                    async for data in pieces:
                        await self._send(AudioChunk(rate, 2, 1, data))
                        text.moved()
        except (asyncio.CancelledError, ConnectionError, TimeoutError):
            after = "before its first sound" if speech is None else f"after {speech.seconds:.1f} s of speech"
            self._server.log(
                f"a request was left {after}: its client is gone or does not read, or the server is stopping"
            )
            raise
        finally:
            text.stop_watching()
        self._server.log(f"{speech.seconds:.1f} s of speech by Wyoming, real-time factor {speech.stats.rtf or 0:.2f}")
        await self._send(AudioStop())

    async def _send(self, what: Eventable) -> None:
        async with asyncio.timeout(WRITE_SECONDS):
            await async_write_event(what.event(), self._writer)


def _text(event: Event) -> str:
    text = event.data.get("text")
    if not isinstance(text, str):
        raise Refused(400, f"{event.type} needs a text")
    return text
