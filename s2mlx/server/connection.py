"""One client's connection: uvicorn's HTTP/1.1, with deadlines, errors in JSON, and an end that loses no answer.

A request is one task. When the client goes away, or the server stops, the task is cancelled: what serves it hears of
that wherever it waits, and nothing has to look whether somebody is still there.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import h11
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol
from uvicorn.server import ServerState

from .refused import Refused, busy

if TYPE_CHECKING:
    from .socket import Socket

IDLE_SECONDS = 30.0  # between requests
HEAD_SECONDS = 10.0  # from the first byte of a head to its last
WRITE_SECONDS = 30.0  # for a client to take what is on its way to it
STOP_SECONDS = 0.2  # for the last words to clients when the server stops
HEAD_BYTES = 32 * 1024
_EARLY_BYTES = 512 * 1024  # of the next requests, while one is answered
# What is still read from a client that does not hear the answer before it has sent all: bytes, seconds.
_REST_BYTES, _REST_SECONDS = 4 << 20, 1.0


class BrokenOff(Exception):
    """An answer cannot be finished; whoever had to know has been told."""


class Clients(ServerState):
    """What the connections share. most: how many there may be. log(text), fault(exception): as of the server.
    `silent`: those of which something is awaited, the longest first. `stopping`: the server is about to end."""

    def __init__(self, most: int, log: Callable[[str], None], fault: Callable[[BaseException], None]):
        super().__init__()
        self.most, self.log, self.fault, self.stopping = most, log, fault, False
        self.silent: dict[Connection | Socket, None] = {}


class Connection(H11Protocol):
    """Made by uvicorn for each client; its `server_state` are the `Clients`.

    Silent clients never shut others out: each is let go after a time, and where there are too many, for a new one the
    one goes that has been silent longest.
    """

    server_state: Clients

    def __init__(
        self,
        config: Config,
        server_state: Clients,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._routes: ASGIApp = self.app
        self.app = self._answer
        self._task: asyncio.Task[Any] | None = None  # that answers
        self._early = bytearray()  # what came of the next request while one is answered
        self._rest = 0  # bytes that came after the end
        self._awaited = ""
        self._deadline: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None
        self._upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        connection: socket.socket = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        super().connection_made(LeaveTaking(transport, self.loop))
        if len(self.connections) <= self.server_state.most or self._make_room():
            self._watch()
        else:
            self._refuse(busy(f"{self.server_state.most} requests are under way"))

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            self._rest += len(data)
            if self._rest > _REST_BYTES:
                self.transport.abort()
        elif self._answering and not self.cycle.more_body:
            # Not left in the socket, as uvicorn would: behind unread bytes the end of a connection does not show.
            self._early += data
            if len(self._early) > _EARLY_BYTES:
                self.flow.pause_reading()
        else:
            super().data_received(data)
            if self._answering and not self.cycle.more_body:
                self.flow.resume_reading()
            self._watch()

    def eof_received(self) -> None:
        self._leave()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.server_state.silent.pop(self, None)
        for timer in (self._deadline, self._stuck):
            if timer is not None:
                timer.cancel()
        self._leave()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        early, self._early = bytes(self._early), bytearray()
        if early:
            self.data_received(early)
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """uvicorn's word for bytes that are no HTTP, called while their error is handled."""
        fault = sys.exception()
        status = getattr(fault, "error_status_hint", 400)
        if status == 431:
            self._refuse(Refused(431, f"the head of the request has more than {HEAD_BYTES} bytes"))
        elif self.conn.trailing_data[0][:1] == b"\x16":  # as the greeting of TLS begins
            self._refuse(Refused(400, "this server speaks http: its address begins with http://, not https://"))
        else:
            self._refuse(Refused(status, f"this is no HTTP request: {str(fault)[:200]}"))

    def shutdown(self) -> None:
        """The server stops."""
        if self._answering:
            super().shutdown()
            self._leave()
            self.loop.call_later(STOP_SECONDS, self.transport.abort)
        else:
            self.transport.abort()

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request: the whole of its task."""
        cycle, self._task = self.cycle, asyncio.current_task()
        stopping = JSONResponse(Refused(503, "the server is stopping").body(), 503)

        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start" and cycle.more_body:  # what was not read is no next request
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        try:
            await (stopping if self.server_state.stopping else self._routes)(scope, receive, closing)
        except asyncio.CancelledError:
            if self.server_state.stopping and not cycle.response_started:
                await stopping(scope, receive, closing)
        except (BrokenOff, ClientDisconnect):
            pass
        except Exception as fault:
            self.server_state.fault(fault)
        finally:
            if self._task is asyncio.current_task():  # and not already that of the next request
                self._task = None
        if cycle.response_started and not cycle.response_complete and scope["http_version"] == "1.0":
            # Without chunks the end of the connection is the end of the answer: by a reset the client notices.
            connection: socket.socket = self.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From here on the connection is a `Socket`'s."""
        self._upgraded = True
        super().handle_websocket_upgrade(event)

    def _leave(self) -> None:
        """End the request under way, if there is one."""
        if self._task is not None:
            self._task.cancel()

    def _watch(self) -> None:
        """Set the deadline for what is awaited of the client now. A byte now and then gains it nothing: the time is
        that of the whole."""
        awaited = ""
        if not (self._answering or self._upgraded or self.transport.is_closing()):
            awaited = "head" if self.conn.trailing_data[0] else "request"
        if awaited != self._awaited:
            self._awaited = awaited
            self.server_state.silent.pop(self, None)
            if self._deadline is not None:
                self._deadline.cancel()
            if awaited:
                self.server_state.silent[self] = None
                seconds = HEAD_SECONDS if awaited == "head" else IDLE_SECONDS
                self._deadline = self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        if self._awaited == "head":
            self._refuse(Refused(408, "the request did not arrive in time"))
        else:
            self.transport.close()

    def _make_room(self) -> bool:
        """Let the client go that has been silent longest; False if none is."""
        if not self.server_state.silent:
            return False
        longest = next(iter(self.server_state.silent))
        del self.server_state.silent[longest]
        self.connections.discard(longest)
        longest.transport.abort()
        return True

    def _refuse(self, refused: Refused) -> None:
        """The answer to what never became a request, and the end."""
        self.server_state.log(f"refused ({refused.status}): {refused}")
        if self._answering:  # a body that is none
            self.cycle.disconnected = True
            self._leave()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps(refused.body()).encode()
            headers = [
                *self.server_state.default_headers,
                *((name.encode(), value.encode()) for name, value in refused.headers.items()),
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(body)),
                (b"connection", b"close"),
            ]
            response = h11.Response(status_code=refused.status, headers=headers, reason=STATUS_PHRASES[refused.status])
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class LeaveTaking(asyncio.Transport):
    """A transport that when it is closed first sends what is left to send and its end, and reads a moment on: closing
    over unread bytes would reset the connection, and the client might lose the answer before it has read it."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop):
        super().__init__()
        self._real, self._loop, self._closed = transport, loop, False

    def is_closing(self) -> bool:
        return self._closed or self._real.is_closing()

    def close(self) -> None:
        if not self.is_closing():
            self._closed = True
            self._real.resume_reading()
            self._real.write_eof()
            self._wait(time.monotonic() + WRITE_SECONDS)

    def abort(self) -> None:
        self._closed = True
        self._real.abort()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._real.get_extra_info(name, default)

    def write(self, data: Any) -> None:
        self._real.write(data)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._real.set_protocol(protocol)

    def pause_reading(self) -> None:
        self._real.pause_reading()

    def resume_reading(self) -> None:
        self._real.resume_reading()

    def _wait(self, deadline: float) -> None:
        if time.monotonic() < deadline and self._real.get_write_buffer_size():
            self._loop.call_later(_REST_SECONDS, self._wait, deadline)
        else:
            self._loop.call_later(_REST_SECONDS, self._real.abort)
