"""What is not speech: paths, methods, keys, other sites, bad bytes, limits, the end."""

import json
import socket
import threading
import time

import pytest

from s2mlx.errors import S2Error
from s2mlx.server import incoming, listener
from s2mlx.server.listener import Server

from .fakes import Client
from .test_speech import HELLO, WAV, until


def test_health_and_head(client):
    answer = client.ask("/health")
    assert answer.status == 200 and answer.json == {"status": "ok", "model": "fake", "requests": 0}
    head = client.ask("/health", "HEAD")
    assert head.fields["content-length"] == str(len(answer.body)) and head.fields["content-type"] == "application/json"
    assert client.ask("/v1/models", "HEAD").status == 200 and client.ask("/nowhere", "HEAD").status == 404


@pytest.mark.parametrize(
    "path, method, status",
    [
        ("/", "GET", 404),
        ("/v1", "GET", 404),
        ("/v1/audio/speech/x", "POST", 404),
        ("//health", "GET", 404),
        ("*", "OPTIONS", 404),
        ("/%2e%2e/health", "GET", 404),
        ("/v1/audio/speech", "GET", 405),
        ("/health", "DELETE", 405),
        ("/v1/audio/voices", "BREW", 405),
        ("/v1/models/", "GET", 200),
        ("/health?x=1", "GET", 200),
        ("/v1/audio/speech", "OPTIONS", 204),
    ],
)
def test_paths_and_methods(client, path, method, status):
    answer = client.ask(path, method)
    assert answer.status == status
    if status in (204, 405):
        assert "OPTIONS" in answer.fields["allow"]
    if status in (404, 405):
        assert answer.error
    assert client.ask("/health").status == 200  # the connection goes on


def test_an_error_keeps_the_connection_when_the_body_was_read(client):
    assert client.post(b"no json").answer().status == 400
    assert client.post(HELLO).answer().body == WAV


@pytest.mark.parametrize(
    "fields, status",
    [
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": None}, 415),
        ({"Content_Type": "multipart/x"}, 415),
        ({"Content_Length": "x"}, 400),
        ({"Content_Length": "-5"}, 400),
        ({"Content_Length": "999999999"}, 413),
    ],
)
def test_an_error_before_the_body_ends_the_connection(client, fields, status):
    answer = client.post(HELLO, **fields).answer()
    assert answer.status == status and answer.error and answer.fields["connection"] == "close" and client.ended()


def test_content_type_may_have_parameters(client):
    assert client.post(HELLO, Content_Type="Application/JSON; charset=utf-8").answer().status == 200


def test_who_still_sends_a_body_that_was_refused_hears_why(server, client):
    client.post(b"", Content_Length=3_000_000)
    until(lambda: any("(413)" in line for line in server.log_lines))
    for _ in range(30):
        client.send(b"x" * 100_000)
    assert client.answer().status == 413 and client.ended()


def test_who_asks_before_sending_is_told(client):
    body = json.dumps(HELLO).encode()
    client.post(b"", Expect="100-continue", Content_Length=len(body))
    assert client.answer().status == 100
    client.send(body)
    assert client.answer().body == WAV
    client.post(b"", Expect="100-continue", Content_Length=10**9)
    assert client.answer().status == 413


def test_a_body_in_chunks(client):
    body = json.dumps(HELLO).encode()
    client.post(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body), Content_Length=None, Transfer_Encoding="chunked")
    assert client.answer().body == WAV


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\nGET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\r\n\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad\r\n\r\n",
        b"x" * 40_000,
    ],
)
def test_bytes_that_are_no_request(server, connect, data):
    client = connect(server)
    client.send(data)
    answer = client.answer()
    assert 400 <= answer.status < 600 and answer.error and client.ended()
    assert connect(server).ask("/health").status == 200


def test_a_request_without_host(client):
    client.send("GET /health HTTP/1.1\r\n\r\n")
    assert "Host" in client.answer().error


def test_a_request_that_takes_forever(server, connect, monkeypatch):
    monkeypatch.setattr(incoming, "HEAD_SECONDS", 0.05)
    monkeypatch.setattr(incoming, "BODY_SECONDS", 0.05)
    client = connect(server)
    client.send("GET /health HTTP/1.1\r\nHo")
    assert client.answer().status == 408 and client.ended()
    client = connect(server).post(b"{", Content_Length=100)
    assert client.answer().status == 408 and client.ended()


def test_an_idle_connection_is_closed_without_a_word(server, connect, monkeypatch):
    monkeypatch.setattr(incoming, "IDLE_SECONDS", 0.02)
    assert connect(server).ended()


def test_a_key(start, connect):
    client = connect(start(key="sécret"))
    assert client.ask("/health").status == 200
    for given in (None, "Bearer wrong", "sécret", "Basic sécret", "Bearer "):
        answer = client.ask("/v1/models", Authorization=given)
        assert answer.status == 401 and answer.json["error"]["code"] == "invalid_api_key"
        assert "sécret" not in answer.body.decode() and answer.fields["www-authenticate"] == "Bearer"
    assert client.post(HELLO).answer().status == 401
    client = connect(client_server := start(key="sécret"))
    assert client.ask("/v1/models", Authorization="bearer sécret").status == 200
    assert client.post(HELLO, Authorization="Bearer sécret").answer().body == WAV
    assert not any("sécret" in line for line in client_server.log_lines)


@pytest.mark.parametrize(
    "host, status",
    [
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("mymac.local", 200),
        ("host.docker.internal:80", 200),
        ("evil.example", 403),
        ("evil.example:8000", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
    ],
)
def test_a_page_whose_name_points_here_is_refused(client, host, status):
    assert client.ask("/health", Host=host).status == status


def test_any_name_will_do_with_a_key_or_on_the_network(start, connect):
    assert connect(start(key="k")).ask("/health", Host="tts.example.org").status == 200
    assert connect(start(only_here=False)).ask("/health", Host="tts.example.org").status == 200


def test_other_sites_are_not_invited(client):
    answer = client.ask("/v1/audio/speech", "OPTIONS", Origin="https://a.example")
    assert not [name for name in answer.fields if name.startswith("access-control")]
    assert "access-control-allow-origin" not in client.ask("/health", Origin="https://a.example").fields


def test_sites_that_are_invited(start, connect):
    client = connect(start(origins=("https://a.example",)))
    answer = client.ask("/v1/audio/speech", "OPTIONS", Origin="https://a.example")
    assert answer.status == 204 and answer.fields["access-control-allow-origin"] == "https://a.example"
    assert "POST" in answer.fields["access-control-allow-methods"]
    assert "Authorization" in answer.fields["access-control-allow-headers"]
    for content in (HELLO, {}):
        answer = client.post(content, Origin="https://a.example").answer()
        assert answer.fields["access-control-allow-origin"] == "https://a.example" and answer.fields["vary"] == "Origin"
    answer = client.ask("/v1/audio/speech", "OPTIONS", Origin="https://b.example")
    assert "access-control-allow-origin" not in answer.fields and answer.fields["vary"] == "Origin"
    assert connect(start(origins=("*",))).ask("/health").fields["access-control-allow-origin"] == "*"


def test_connections_are_bounded(server, connect, monkeypatch):
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 2)
    first, second = connect(server), connect(server)
    assert first.ask("/health").status == second.ask("/health").status == 200
    third = connect(server)
    answer = third.answer()
    assert answer.status == 503 and answer.error and answer.fields["retry-after"] and third.ended()
    first.close()
    until(lambda: asked(server) == 200)


def asked(server):
    with Client(server.server_address) as client:
        try:
            return client.ask("/health").status
        except (ConnectionError, IndexError):  # turned away before it had asked
            return None


def test_stopping_ends_what_runs_and_frees_the_port(tts, start, connect):
    server = start()
    idle, speaking, waiting = connect(server), connect(server), connect(server)
    assert idle.ask("/health").status == 200
    tts.go.clear()
    tts.waiting_at = 1
    speaking.post(HELLO)
    speaking.head()
    waiting.post({**HELLO, "input": "Waiting."})
    until(lambda: server.service.health()["requests"] == 2)
    address = server.server_address
    server.shutdown()
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < listener._END_SECONDS
    assert idle.ended() and "stopping" in waiting.answer().error and tts.cancelled[0] == "Hello."
    with pytest.raises(ConnectionError):
        while speaking.chunk():
            pass
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(address)


def test_a_port_that_is_taken(server):
    with pytest.raises(S2Error, match="--port"):
        Server(*server.server_address)
    with pytest.raises(S2Error, match="--host"):
        Server("no such host.invalid", 0)


def test_many_at_once(tts, start, connect):
    server = start(waiting=20)
    answers = []

    def ask():
        with Client(server.server_address) as client:
            for _ in range(3):
                answers.append(client.post(HELLO).answer().body == WAV)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 24
