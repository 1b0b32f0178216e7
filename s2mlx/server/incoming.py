"""The bytes of a connection -> heads and bodies of requests (RFC 9112), read strictly and against deadlines.

A client that sends a byte now and then gains nothing: the time is that of the whole head, or the whole body. What could
be read in two ways is refused, since a proxy in front might have read it the other way. Knows no paths.
"""

from __future__ import annotations

import re
import socket
import time
from dataclasses import dataclass

from .protocol import Refused

IDLE_SECONDS = 30.0  # between requests
HEAD_SECONDS = 10.0  # from the first byte of a head to its last
BODY_SECONDS = 30.0
HEAD_BYTES = 32 * 1024
BODY_BYTES = 256 * 1024  # every character of the longest input may be escaped, twelve bytes for an emoji
_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST_LINE = re.compile(rf"({_TOKEN}) ([!-~]+) HTTP/(\d)\.(\d)")
# No two neighbours in these may take the same character: where a match fails, each way to share them out is tried, and
# the thread that tries keeps all others waiting.
_FIELD = re.compile(rf"({_TOKEN}):([^\0-\x08\x0a-\x1f\x7f]*)")
_CHUNK_SIZE = re.compile(r"([0-9A-Fa-f]{1,8})[ \t]*(;[^\0-\x08\x0a-\x1f\x7f]*)?")


class Ended(Exception):
    """The client closed its end, or waited too long between requests."""


@dataclass(frozen=True)
class Head:
    """Request line and header fields; names of fields in lower case, several of one name joined by commas."""

    method: str
    target: str
    minor: int  # HTTP/1.minor
    fields: dict[str, str]

    @property
    def path(self) -> str:
        """Without query; of an absolute target, the path in it."""
        target = re.sub(r"^https?://[^/?]*", "", self.target, flags=re.IGNORECASE)
        return target.partition("?")[0] or "/"

    @property
    def keeps_alive(self) -> bool:
        return self.minor > 0 and "close" not in self.words("connection")

    @property
    def chunked(self) -> bool:
        return "transfer-encoding" in self.fields

    @property
    def length(self) -> int:
        """Bytes of the body, unless it is chunked."""
        return int(self.fields.get("content-length", "0"))

    def words(self, name: str) -> list[str]:
        """A comma-separated field, in lower case."""
        return [word.strip().lower() for word in self.fields.get(name, "").split(",")]


def parse_head(data: bytes) -> Head:
    """A head without its empty line. Raises `Refused`."""
    first, *lines = data.decode("latin-1").split("\r\n")
    line = _REQUEST_LINE.fullmatch(first)
    if line is None:
        raise Refused(400, "this is no HTTP request line")
    method, target, major, minor = line.groups()
    if major != "1":
        raise Refused(505, "only HTTP/1.0 and HTTP/1.1 are spoken here")
    fields: dict[str, str] = {}
    for text in lines:
        one = _FIELD.fullmatch(text)
        if one is None:
            raise Refused(400, "a header field of the request is malformed")
        name, value = one[1].lower(), one[2].strip(" \t")
        if name in fields and name in ("content-length", "host", "authorization", "transfer-encoding"):
            raise Refused(400, f"the request has two {name} fields")
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    head = Head(method, target, int(minor), fields)
    _check_framing(head)
    return head


def _check_framing(head: Head) -> None:
    if head.chunked:
        if "content-length" in head.fields or head.minor == 0:
            raise Refused(400, "the request gives the length of its body in two ways")
        if head.words("transfer-encoding") != ["chunked"]:
            raise Refused(501, "the only transfer encoding known here is chunked")
    elif not re.fullmatch(r"[0-9]{1,18}", head.fields.get("content-length", "0")):
        raise Refused(400, "Content-Length is not a number of bytes")


class Incoming:
    """The receiving side of a connection. What has come too early waits for the next request."""

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._buffer = bytearray()

    def head(self) -> Head:
        """The next request's head. Raises `Ended` between requests, else `Refused`."""
        if not self._buffer:
            try:
                self._receive(time.monotonic() + IDLE_SECONDS)
            except TimeoutError:
                raise Ended from None
        deadline = time.monotonic() + HEAD_SECONDS
        while True:
            while self._buffer[:2] == b"\r\n":  # some clients end a body with an empty line too many
                del self._buffer[:2]
            end = self._buffer.find(b"\r\n\r\n", 0, HEAD_BYTES)
            if end >= 0:
                data = bytes(self._buffer[:end])
                del self._buffer[: end + 4]
                return parse_head(data)
            if len(self._buffer) >= HEAD_BYTES:
                raise Refused(431, f"the head of the request has more than {HEAD_BYTES} bytes")
            self._receive_or_refuse(deadline)

    def body(self, head: Head) -> bytes:
        """The body that the head announces. Raises `Ended` and `Refused`."""
        deadline = time.monotonic() + BODY_SECONDS
        if not head.chunked:
            return self._exactly(head.length, deadline)
        body = bytearray()
        while True:
            size = _CHUNK_SIZE.fullmatch(self._line(deadline))
            if size is None:
                raise Refused(400, "a chunk of the body has no valid size")
            count = int(size[1], 16)
            if len(body) + count > BODY_BYTES:
                raise too_large()
            if count == 0:
                while self._line(deadline):  # trailer fields say nothing that is needed
                    pass
                return bytes(body)
            body += self._exactly(count, deadline)
            if self._exactly(2, deadline) != b"\r\n":
                raise Refused(400, "a chunk of the body is longer than its size says")

    def discard(self, most: int, seconds: float) -> None:
        """Read and forget what the client still sends: closing over unread bytes would reset the connection, and the
        client might lose the answer before it has read it."""
        deadline, count = time.monotonic() + seconds, 0
        try:
            while count < most:
                self._buffer.clear()
                self._receive(deadline)
                count += len(self._buffer)
        except (Ended, OSError):  # TimeoutError is one
            pass

    def _line(self, deadline: float) -> str:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > 4096:
                raise Refused(400, "a line in the body's framing is too long")
            self._receive_or_refuse(deadline)
        line = bytes(self._buffer[:end]).decode("latin-1")
        del self._buffer[: end + 2]
        return line

    def _exactly(self, count: int, deadline: float) -> bytes:
        while len(self._buffer) < count:
            self._receive_or_refuse(deadline)
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _receive_or_refuse(self, deadline: float) -> None:
        try:
            self._receive(deadline)
        except TimeoutError:
            raise Refused(408, "the request did not arrive in time") from None

    def _receive(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        data = self._connection.recv(65536)
        if not data:
            raise Ended
        self._buffer += data


def too_large() -> Refused:
    return Refused(413, f"the body has more than {BODY_BYTES} bytes; split the text")
