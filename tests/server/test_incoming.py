"""Heads and bodies of requests: what is taken, and what could be read in two ways."""

import socket
import time

import pytest

from s2mlx.server import incoming
from s2mlx.server.incoming import BODY_BYTES, Ended, Incoming, parse_head
from s2mlx.server.protocol import Refused


@pytest.fixture
def pair():
    here, there = socket.socketpair()
    yield Incoming(here), there
    here.close()
    there.close()


def test_a_head():
    head = parse_head(b"POST /v1/audio/speech?x=1 HTTP/1.1\r\nHost: a\r\nX-One:  1 \r\nx-one: 2\r\nConnection: Close")
    assert (head.method, head.path, head.minor, head.fields["x-one"]) == ("POST", "/v1/audio/speech", 1, "1, 2")
    assert not head.keeps_alive and head.length == 0 and not head.chunked
    assert parse_head(b"GET HTTP://host:1/health?q HTTP/1.1").path == "/health"
    assert parse_head(b"GET http://host HTTP/1.1").path == "/"
    assert parse_head(b"GET / HTTP/1.1").keeps_alive and not parse_head(b"GET / HTTP/1.0").keeps_alive


@pytest.mark.parametrize(
    "data, status",
    [
        (b"", 400),
        (b"GET /", 400),
        (b"GET  / HTTP/1.1", 400),
        (b"GET / HTTP/1.1 ", 400),
        (b"GET / HTTP/2.0", 505),
        (b"G\xc3\xa4T / HTTP/1.1", 400),
        (b"GET /\0 HTTP/1.1", 400),
        (b"GET /\xc3\xa4 HTTP/1.1", 400),
        (b"\x16\x03\x01\x02", 400),
        (b"GET / HTTP/1.1\r\nHost : a", 400),
        (b"GET / HTTP/1.1\r\n folded", 400),
        (b"GET / HTTP/1.1\r\nnothing", 400),
        (b"GET / HTTP/1.1\r\nA: b\rc", 400),
        (b"GET / HTTP/1.1\r\nA: b\nC: d", 400),
        (b"GET / HTTP/1.1\r\nA: \0", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b", 400),
        *[
            (b"POST / HTTP/1.1\r\nContent-Length: " + n, 400)
            for n in (b"-1", b"+1", b"1e3", b"0x1", b"1,1", b"", b"1 1", b"\xb2", b"9" * 19)
        ],
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", 400),
        (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", 501),
    ],
)
def test_what_is_no_head(data, status):
    with pytest.raises(Refused) as caught:
        parse_head(data)
    assert caught.value.status == status


@pytest.mark.parametrize(
    "line",
    [
        b"X:" + b" " * 2500 + b"\1",
        b"X:" + b" \t" * 1250 + b"a\1",
        b"X: a" + b" " * 2500 + b"a\1",
        b"a" * 2500,
        b"Content-Length:" + b" " * 2500 + b"\1",
        b" " * 2500 + b":",
        b"X:" + b"\t" * 2500 + b"\x7f",
    ],
    ids=range(7),
)
def test_a_long_line_is_refused_at_once(line):
    """Read in every way that it might be, it would take many seconds, and a head of the longest hours."""
    began = time.monotonic()
    for data in (line, b"GET / HTTP/1.1\r\n" + line, b"GET " + line):
        with pytest.raises(Refused):
            parse_head(data)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "line",
    [b"1" * 8 + b" " * 4000 + b"x", b" " * 4000, b"1;" + b" " * 4000 + b"\1", b"1" + b" \t" * 2000 + b";\1"],
    ids=range(4),
)
def test_a_long_size_of_a_chunk_is_refused_at_once(pair, line):
    requests, client = pair
    client.sendall(b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + line + b"\r\n")
    began = time.monotonic()
    with pytest.raises(Refused):
        requests.body(requests.head())
    assert time.monotonic() - began < 2


def test_requests_in_a_row_and_in_bits(pair):
    requests, client = pair
    data = (
        b"\r\nPOST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
        b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nde\r\n1\r\nf\r\n0\r\nTrailer: 1\r\n\r\nGET /c HTTP/1.1\r\n\r\n"
    )
    for at in range(0, len(data), 7):
        client.sendall(data[at : at + 7])
    client.shutdown(socket.SHUT_WR)
    found = []
    for _ in range(3):
        head = requests.head()
        found.append((head.path, requests.body(head)))
    assert found == [("/a", b"abc"), ("/b", b"def"), ("/c", b"")]
    with pytest.raises(Ended):
        requests.head()


@pytest.mark.parametrize("chunks", [b"x\r\n", b"-1\r\n", b"1\r\nab\r\n", b"\r\n", b"9" * 5000, b"123456789\r\n"])
def test_chunks_that_are_none(pair, chunks):
    requests, client = pair
    client.sendall(b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    with pytest.raises(Refused) as caught:
        requests.body(requests.head())
    assert caught.value.status == 400


def test_chunks_do_not_get_around_the_limit(pair):
    requests, client = pair
    client.sendall(b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % (BODY_BYTES + 1))
    with pytest.raises(Refused) as caught:
        requests.body(requests.head())
    assert caught.value.status == 413


def test_an_endless_head(pair):
    requests, client = pair
    client.sendall(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 6000)
    with pytest.raises(Refused) as caught:
        requests.head()
    assert caught.value.status == 431


def test_the_time_is_for_the_whole_and_not_for_a_byte(pair, monkeypatch):
    """Each wait is shorter than the time allowed; together they are longer."""
    requests, client = pair
    now = iter(range(0, 10_000, 4))
    monkeypatch.setattr(incoming.time, "monotonic", lambda: float(next(now)))
    received = []

    class Slow:
        def settimeout(self, seconds):
            received.append(seconds)

        def recv(self, size):
            return b"G"

    slow = Incoming(Slow())
    with pytest.raises(Refused) as caught:
        slow.head()
    assert caught.value.status == 408 and received == [26, 6, 2]


def test_a_client_that_says_nothing_is_let_go(pair, monkeypatch):
    monkeypatch.setattr(incoming, "IDLE_SECONDS", 0.01)
    with pytest.raises(Ended):
        pair[0].head()
