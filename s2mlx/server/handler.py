"""One connection: its requests in turn, and which answer each of them gets.

A client that goes away ends its request: whether it has, the model's thread asks at every frame (see `Hangup`).
"""

from __future__ import annotations

import json
import select
import socket
import socketserver
import threading
from contextlib import closing
from urllib.parse import unquote

from ..errors import S2Error
from .incoming import BODY_BYTES, Ended, Head, Incoming, too_large
from .outgoing import Outgoing
from .protocol import Refused, parse_speech
from .voices import Cancelled

SPEECH, MODELS, VOICES, HEALTH = "/v1/audio/speech", "/v1/models", "/v1/audio/voices", "/health"
# A reader must keep half the pace of speech; this many seconds it may be late.
PATIENCE = 30.0
_DISCARD = (4 << 20, 1.0)  # bytes, seconds: what is still read from a client whose request was refused
_STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nobody between is to keep or collect it


class Hangup(threading.Event):
    """Is set when somebody sets it, or when the client has closed its end of the connection."""

    def __init__(self, connection: socket.socket):
        super().__init__()
        self._connection = connection

    def is_set(self) -> bool:
        if not super().is_set() and self._gone():
            self.set()
        return super().is_set()

    def _gone(self) -> bool:
        poll = select.poll()  # each time anew: one of them may not be asked by two threads at once
        try:
            poll.register(self._connection, select.POLLIN | getattr(select, "POLLRDHUP", 0))
            happened = poll.poll(0)
            if not happened:
                return False
            # readable is the end as well as the next request
            return bool(happened[0][1] & ~select.POLLIN) or not self._connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):  # it is closed
            return True


class Handler(socketserver.BaseRequestHandler):
    """Serves a connection of a `Server`."""

    def setup(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._in, self._out = Incoming(self.request), Outgoing(self.request)
        self.hangup = Hangup(self.request)
        self.server.entered(self)

    def handle(self):
        try:
            while self._one_request():
                pass
        except (Ended, Cancelled, ConnectionError, TimeoutError):
            pass  # it went away, or does not read

    def finish(self):
        self.hangup.set()
        self.server.left(self)

    def _one_request(self) -> bool:
        """Answer one request. True if another may follow."""
        head = None
        self._keep = self._unread = self._streaming = False
        try:
            head = self._in.head()
            self._keep, self._unread = head.keeps_alive, head.chunked or head.length > 0
            self._route(head)
        except Refused as refused:
            self.server.log(f"refused ({refused.status}): {refused}")
            self._whole(head, refused.status, refused.body(), refused.headers)
        except (Ended, Cancelled, OSError):
            raise
        except Exception as fault:  # a fault of ours: the client is told, and so is the terminal
            self.server.fault(fault)
            if self._streaming:
                self._out.fail()
                raise Ended from None
            self._whole(head, 500, Refused(500, "the server failed; its terminal says why").body())
        if not self._keep:
            self.request.shutdown(socket.SHUT_WR)
            self._in.discard(*_DISCARD)
        return self._keep

    def _route(self, head: Head) -> None:
        access, service = self.server.access, self.server.service
        access.check_host(head)
        path = head.path.rstrip("/")
        if path == SPEECH:
            allowed, answer = ("POST",), self._speech
        elif path in (MODELS, VOICES, HEALTH) or path.startswith(MODELS + "/"):
            allowed, answer = ("GET", "HEAD"), None
        else:
            raise Refused(404, f"there is nothing at {head.path[:80]!r}; see {SPEECH}, {MODELS}, {VOICES} and {HEALTH}")
        methods = ", ".join((*allowed, "OPTIONS"))
        if head.method == "OPTIONS":
            self._whole(head, 204, headers={"Allow": methods, **access.preflight(head, methods)})
            return
        if head.method not in allowed:
            raise Refused(
                405, f"{path} takes {' and '.join(allowed)}, not {head.method[:20]}", headers={"Allow": methods}
            )
        if path != HEALTH:
            access.check_key(head)
        if answer:
            answer(head)
            return
        if path == HEALTH:
            content = service.health()
        elif path == VOICES:
            content = service.voices()
        elif path == MODELS:
            content = service.models()
        else:
            content = service.model(unquote(path.removeprefix(MODELS + "/")))
        self._whole(head, 200, content)

    def _speech(self, head: Head) -> None:
        request = parse_speech(self._json(head))
        service = self.server.service
        with service.place(self.hangup):
            try:
                speech = service.speak(request, self.hangup)
            except Cancelled:
                if self.server.stopping:
                    raise Refused(503, "the server is stopping") from None
                self.server.log("a client left before its first sound")
                raise
            with closing(speech):
                self._stream(head, speech)
        self.server.log(
            f"{speech.seconds:.1f} s of speech as {request.format}, real-time factor {speech.stats.rtf or 0:.2f}"
        )

    def _stream(self, head: Head, speech) -> None:
        chunked = head.minor > 0
        headers = {
            "Content-Type": speech.content_type,
            "S2mlx-Seed": str(speech.seed),
            **_STREAM,
            **self.server.access.cors(head),
        }
        if not self._keep:
            headers["Connection"] = "close"
        self._streaming = True
        self._out.begin(headers, chunked=chunked)
        try:
            for data in speech:
                self._out.piece(data)
                if self._out.blocked > PATIENCE + 2 * speech.pace:
                    raise TimeoutError
            self._out.end()
        except S2Error as fault:
            self.server.log(f"a request failed amid speech: {fault}")
            self._out.fail()
            raise Ended from None
        except (Cancelled, OSError):
            self.server.log(
                f"a request was left after {speech.seconds:.1f} s of speech: its client is gone or does "
                "not read, or the server is stopping"
            )
            self._out.fail()
            raise

    def _json(self, head: Head) -> bytes:
        if head.fields.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "the body must be JSON, sent with Content-Type: application/json")
        if not head.chunked and head.length > BODY_BYTES:
            raise too_large()
        if head.minor > 0 and "100-continue" in head.words("expect"):
            self._out.proceed()
        body = self._in.body(head)
        self._unread = False
        return body

    def _whole(self, head: Head | None, status: int, content: dict | None = None, headers: dict | None = None) -> None:
        self._keep = self._keep and not self._unread  # what was not read is no next request
        headers = {**(headers or {}), **(self.server.access.cors(head) if head else {})}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if not self._keep:
            headers["Connection"] = "close"
        body = b"" if content is None else json.dumps(content).encode() + b"\n"
        self._out.whole(status, headers, body, only_head=head is not None and head.method == "HEAD")
