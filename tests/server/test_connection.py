"""The bytes of a connection: what is no request, what could be read in two ways, and what takes forever."""

import json
import time

import pytest

from s2mlx.server import connection, routes

from .test_speech import HELLO, WAV, until

BODY = json.dumps(HELLO).encode()
POST = b"POST /v1/audio/speech HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "data, status",
    [
        (b"\r\nGET\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
        (b"GET /health HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        (b"GET /health HTTP/9.9\r\n\r\n", 505),
        (b"G\xc3\xa4T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\n folded\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nbad\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost: a\r\nA: b\rc\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost: a\r\nA: \0\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\n\r\n", 400),  # no Host
        *[
            (POST + b"Content-Length: " + n + b"\r\n\r\n", 400)
            for n in (b"-1", b"+1", b"1e3", b"0x1", b"1,2", b"", b"1 1", b"\xb2", b"9" * 30)
        ],
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400),
        (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (b"x" * 40_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 6000, 431),
    ],
)
def test_bytes_that_are_no_request(server, connect, data, status):
    client = connect(server)
    client.send(data)
    answer = client.answer()
    assert answer.status == status and answer.error and answer.fields["connection"] == "close" and client.ended()
    assert connect(server).ask("/health").status == 200


@pytest.mark.parametrize(
    "head",
    [
        POST + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n" % len(BODY),
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
        POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n",
    ],
    ids=range(3),
)
def test_a_body_of_two_lengths_is_refused(tts, client, head):
    """A proxy in front might take its end for the next request, or the other way round."""
    client.send(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY))
    answer = client.answer()
    assert answer.status == 400 and "two ways" in answer.error and client.ended() and not tts.calls


def test_a_greeting_of_https_is_refused_at_once(server, client):
    """Nothing in it looks like the end of a head, which would be awaited for long."""
    client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x8e" * 300)
    assert "https" in client.answer().error and client.ended()
    assert any("https" in line for line in server.log_lines)


@pytest.mark.parametrize(
    "line",
    [
        b"X:" + b" " * 2500 + b"\0",
        b"X:" + b" \t" * 1250 + b"a\0",
        b"X: a" + b" " * 2500 + b"a\0",
        b"a" * 2500,
        b"Content-Length:" + b" " * 2500 + b"\0",
        b" " * 2500 + b":",
        b"X:" + b"\t" * 2500 + b"\0",
    ],
    ids=range(7),
)
def test_a_long_line_is_refused_at_once(server, connect, line):
    """Read in every way that it might be, it would take many seconds, and a head of the longest hours."""
    began = time.process_time()
    for data in (line, b"GET / HTTP/1.1\r\nHost: a\r\n" + line, b"GET " + line):
        client = connect(server)
        client.send(data + b"\r\n\r\n")
        assert 400 <= client.answer().status < 500
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "line",
    [b"1" * 8 + b" " * 4000 + b"x", b" " * 4000, b"1;" + b" " * 4000 + b"\0", b"1" + b" \t" * 2000 + b";\0"],
    ids=range(4),
)
def test_a_long_size_of_a_chunk_is_read_at_once(client, line):
    began = time.process_time()
    client.send(POST + b"Transfer-Encoding: chunked\r\n\r\n" + line + b"\r\nx\r\n0\r\n\r\n")
    assert client.answer().status == 400
    assert time.process_time() - began < 2


@pytest.mark.parametrize("chunks", [b"x\r\n", b"-1\r\n", b"1\r\nab\r\n", b"\r\n", b"9" * 40_000])
def test_chunks_that_are_none(tts, client, chunks):
    client.send(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
    answer = client.answer()
    assert 400 <= answer.status < 500 and answer.error and client.ended() and not tts.calls


def test_chunks_do_not_get_around_the_limit(client):
    client.send(POST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (routes.BODY_BYTES + 1))
    client.send(b"x" * (routes.BODY_BYTES + 1))
    assert client.answer().status == 413 and client.ended()


def test_requests_in_a_row_and_in_bits(client):
    data = (
        b"%bContent-Length: %d\r\n\r\n%b" % (POST, len(BODY), BODY)
        + b"%bTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n%b\r\n" % (POST, BODY[:2])
        + b"%x\r\n%b\r\n0\r\nTrailer: 1\r\n\r\n" % (len(BODY) - 2, BODY[2:])
        + b"GET HTTP://host:1/health?q HTTP/1.1\r\nHost: a\r\n\r\n"
    )
    for at in range(0, len(data), 7):
        client.send(data[at : at + 7])
    assert client.answer().body == client.answer().body == WAV
    assert client.answer().json["status"] == "ok"


def test_a_head_that_takes_forever(server, connect, monkeypatch):
    """Bytes that come now and then gain it nothing."""
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)
    client = connect(server)
    client.send("GET /health HTTP/1.1\r\nHost: a\r\n")
    with pytest.raises(ConnectionError):
        for _ in range(200):
            client.send("A: b\r\n")
            time.sleep(0.05)
    client = connect(server)
    client.send("GET /health HTTP/1.1\r\nHo")
    answer = client.answer()
    assert answer.status == 408 and answer.error and client.ended()


def test_a_body_that_takes_forever(server, connect, monkeypatch):
    monkeypatch.setattr(routes, "BODY_SECONDS", 0.05)
    client = connect(server).post(b"{", Content_Length=100)
    assert client.answer().status == 408 and client.ended()


def test_an_idle_connection_is_closed_without_a_word(server, connect, monkeypatch):
    monkeypatch.setattr(connection, "IDLE_SECONDS", 0.02)
    assert connect(server).ended()  # one that never asked
    monkeypatch.setattr(connection, "IDLE_SECONDS", 60)
    client = connect(server)
    assert client.ask("/health").status == 200
    monkeypatch.setattr(connection, "IDLE_SECONDS", 0.02)
    assert client.ask("/health").status == 200 and client.ended()  # and one that did


def test_a_request_under_way_is_not_idle(tts, server, client, monkeypatch):
    for name in ("IDLE_SECONDS", "HEAD_SECONDS"):
        monkeypatch.setattr(connection, name, 0.05)
    tts.gate.close()
    client.post(HELLO)
    until(lambda: tts.calls)
    time.sleep(0.2)
    tts.gate.open()
    assert client.answer().body == WAV


@pytest.mark.parametrize("keeps", ["close", "keep-alive"])
def test_what_comes_behind_a_request_does_it_no_harm(tts, client, keeps):
    """Some clients end a body with an empty line too many."""
    tts.gate.close()
    client.post(HELLO, Connection=keeps)
    until(lambda: tts.calls)
    client.send("\r\n")
    time.sleep(0.05)
    tts.gate.open()
    assert client.answer().body == WAV
