"""Answers -> bytes of a connection: whole ones, and streams in chunks. Knows HTTP/1.1's framing and slow readers."""

from __future__ import annotations

import socket
import struct
import time
from email.utils import formatdate
from http import HTTPStatus

from .. import __version__

WRITE_SECONDS = 30.0  # for one piece to be taken by the client


class Outgoing:
    """The sending side of a connection. `blocked`: seconds that an answer under way has waited for its reader."""

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._chunked = False
        self.blocked = 0.0

    def whole(self, status: int, headers: dict[str, str], body: bytes = b"", *, only_head: bool = False) -> None:
        """One answer at once."""
        head = _head(status, {**headers, **({} if status == 204 else {"Content-Length": str(len(body))})})
        self._send(head if only_head else head + body)

    def begin(self, headers: dict[str, str], *, chunked: bool) -> None:
        """The head of a stream. Not chunked, for HTTP/1.0, it ends with the connection."""
        self._chunked, self.blocked = chunked, 0.0
        self._send(_head(200, {**headers, **({"Transfer-Encoding": "chunked"} if chunked else {})}))

    def piece(self, data: bytes) -> None:
        """More of a stream; not empty, since an empty chunk would end it."""
        self._send(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    def end(self) -> None:
        if self._chunked:
            self._send(b"0\r\n\r\n")

    def fail(self) -> None:
        """Leave a stream so that the client notices: without its last chunk, or else, without chunks, by a reset."""
        if not self._chunked:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._connection.close()

    def proceed(self) -> None:
        """Tell a client that asked first to send its body."""
        self._send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _send(self, data: bytes) -> None:
        began = time.monotonic()
        self._connection.settimeout(WRITE_SECONDS)  # of sendall, this is the time for all of it
        self._connection.sendall(data)
        self.blocked += time.monotonic() - began


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"Server: s2mlx/{__version__}",
        f"Date: {formatdate(usegmt=True)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
