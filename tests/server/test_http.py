"""What is not speech: paths, methods, keys, other sites, bad bytes, limits, the end."""

import errno
import json
import resource
import select
import socket
import threading
import urllib.request

import pytest

from s2mlx.errors import S2Error
from s2mlx.server import addresses, listener, speech
from s2mlx.server.access import Access
from s2mlx.server.listener import Server
from s2mlx.server.service import Service

from .client import Client
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


@pytest.mark.parametrize("kind", ["text/plain", None, "multipart/x"])
def test_a_body_that_is_not_called_json(client, kind):
    answer = client.post(HELLO, Content_Type=kind).answer()
    assert answer.status == 415 and answer.error
    assert client.post(HELLO).answer().body == WAV  # the body was taken, and is no request


@pytest.mark.parametrize(
    "fields, status",
    [
        ({"Content_Length": "x"}, 400),
        ({"Content_Length": "-5"}, 400),
        ({"Content_Length": "999999999"}, 413),
        ({"Content_Length": "9999", "Content_Type": "text/plain"}, 415),
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


def test_a_name_is_no_less_foreign_on_the_network(tts, library):
    """A page that rebinds its name to an address of the user's network would speak in the user's voice."""
    server = Server("0.0.0.0", 0)
    try:
        server.start(Service(tts, "fake", library=library), Access())
        with Client(server.address) as client:
            assert client.ask("/health", Host="evil.example").status == 403
            assert client.post(HELLO, Host="evil.example:80").answer().error.startswith("without an API key")
            for host in ("192.168.1.5:8000", "[fe80::1]", "mymac.local:8000", "tts.localhost", "localhost"):
                assert client.ask("/health", Host=host).status == 200
    finally:
        server.stop()


def test_any_name_will_do_with_a_key(start, connect):
    assert connect(start(key="k")).ask("/health", Host="tts.example.org").status == 200


def test_the_machines_own_name_is_local(start, connect, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "MyMac.fritz.box")
    assert connect(start()).ask("/health", Host="mymac.fritz.box:8000").status == 200


PREFLIGHT = {"Origin": "https://a.example", "Access_Control_Request_Method": "POST"}


def test_other_sites_are_not_invited(client):
    answer = client.ask("/v1/audio/speech", "OPTIONS", **PREFLIGHT)
    assert not [name for name in answer.fields if name.startswith("access-control")]
    assert "access-control-allow-origin" not in client.ask("/health", Origin="https://a.example").fields


def test_sites_that_are_invited(start, connect):
    client = connect(start(origins=("https://a.example",)))
    answer = client.ask(
        "/v1/audio/speech", "OPTIONS", **PREFLIGHT, Access_Control_Request_Headers="authorization,content-type"
    )
    assert answer.status == 200 and answer.fields["access-control-allow-origin"] == "https://a.example"
    assert "POST" in answer.fields["access-control-allow-methods"]
    assert "authorization" in answer.fields["access-control-allow-headers"]
    for content in (HELLO, {}):
        answer = client.post(content, Origin="https://a.example").answer()
        assert answer.fields["access-control-allow-origin"] == "https://a.example" and answer.fields["vary"] == "Origin"
    answer = client.ask("/v1/audio/speech", "OPTIONS", **{**PREFLIGHT, "Origin": "https://b.example"})
    assert answer.status == 400 and answer.error
    assert "access-control-allow-origin" not in answer.fields and "Origin" in answer.fields["vary"]
    client = connect(start(origins=("*",)))
    assert client.ask("/health", Origin="https://c.example").fields["access-control-allow-origin"] == "*"


def test_a_page_may_send_what_openais_client_sends_and_read_what_it_needs(start, connect):
    client = connect(start(key="k", origins=("https://a.example",)))
    asked = "authorization,content-type,x-stainless-arch,x-stainless-retry-count,x-stainless-runtime-version"
    answer = client.ask("/v1/audio/speech", "OPTIONS", **PREFLIGHT, Access_Control_Request_Headers=asked)
    assert answer.status == 200 and set(asked.split(",")) <= set(
        answer.fields["access-control-allow-headers"].replace(" ", "").split(",")
    )
    answer = client.post(HELLO, Origin="https://a.example", Authorization="Bearer k").answer()
    assert {"S2mlx-Seed", "Retry-After"} <= set(answer.fields["access-control-expose-headers"].split(", "))
    # a page can read errors too, those before any path among them
    for answer in (
        client.ask("/nowhere", Origin="https://a.example"),
        client.post({}, Origin="https://a.example").answer(),
    ):
        assert answer.status in (401, 404) and answer.fields["access-control-allow-origin"] == "https://a.example"


def test_silent_connections_shut_nobody_out(server, connect):
    silent = [connect(server) for _ in range(500)]
    assert connect(server).ask("/health").status == 200
    assert not any(select.select([client.socket], [], [], 0)[0] for client in silent[::50])  # all are still there


def test_few_descriptors_become_more():
    """macOS gives a process 256 unless it asks."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert listener._files() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 1000
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_of_too_many_connections_the_longest_silent_goes(tts, start, connect, monkeypatch):
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 3)
    server = start()
    tts.gate.close()
    speaking = connect(server).post(HELLO)  # has no answer yet, but is not silent
    until(lambda: tts.calls)
    silent = [connect(server) for _ in range(2)]
    for client in silent:
        assert client.ask("/health").status == 200
    assert connect(server).ask("/health").status == 200
    assert silent[0].ended() and silent[1].ask("/health").status == 200
    tts.gate.open()
    assert speaking.answer().body == WAV


def test_a_flood_of_silent_connections_shuts_nobody_out(start, connect, monkeypatch):
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 20)
    server = start()
    silent = [connect(server) for _ in range(300)]
    assert connect(server).ask("/health").status == 200
    assert len(server._clients.connections) <= 20 and silent[0].ended()


def test_where_none_is_silent_a_new_connection_is_turned_away(tts, start, connect, monkeypatch):
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 1)
    server = start()
    tts.gate.close()
    speaking = connect(server).post(HELLO)
    until(lambda: tts.calls)
    other = connect(server)
    answer = other.answer()
    assert answer.status == 503 and answer.error and answer.fields["retry-after"] and other.ended()
    tts.gate.open()
    assert speaking.answer().body == WAV


def test_stopping_ends_what_runs_and_frees_the_port(tts, start, connect):
    server = start()
    idle, speaking, waiting = connect(server), connect(server), connect(server)
    assert idle.ask("/health").status == 200
    tts.gate.close()
    tts.waiting_at = 1
    speaking.post(HELLO)
    speaking.head()
    waiting.post({**HELLO, "input": "Waiting."})
    until(lambda: server.service.health()["requests"] == 2)
    server.stop()
    assert idle.ended() and "stopping" in waiting.answer().error
    until(lambda: tts.cancelled)
    assert tts.cancelled == ["Hello."]
    with pytest.raises(ConnectionError):
        while speaking.chunk():
            pass
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(server.address)


def test_who_does_not_read_does_not_hold_up_the_end(tts, start, connect, monkeypatch):
    monkeypatch.setattr(speech, "MOST_WAITING", 5.0)
    server = start()
    tts.frames = 3000  # 12 MB, more than sockets hold
    connect(server).post(HELLO)
    until(lambda: any(c.flow.write_paused for c in list(server._clients.connections)))
    server.stop()
    assert not server._thread.is_alive()
    until(lambda: tts.cancelled)


def test_a_port_that_is_taken(server):
    with pytest.raises(S2Error, match="--port"):
        Server(*server.address)
    with pytest.raises(S2Error, match="--host"):
        Server("no such host.invalid", 0)


def test_localhost_is_both_of_its_addresses(tts, library):
    server = Server("localhost", 0)
    try:
        server.start(Service(tts, "fake", library=library), Access())
        hosts = ["127.0.0.1"]
        if has_ipv6():
            hosts.append("::1")
        for host in hosts:
            with Client((host, server.address[1])) as client:
                assert client.ask("/health").status == 200
        assert server.only_here and server.url == f"http://127.0.0.1:{server.address[1]}"
    finally:
        server.stop()


def test_an_address_that_the_machine_lacks_leaves_the_other(monkeypatch):
    bound = addresses._bound

    def no_ipv6(family, address):
        if family == socket.AF_INET6:
            raise OSError(errno.EADDRNOTAVAIL, "no IPv6")
        return bound(family, address)

    monkeypatch.setattr(addresses, "_bound", no_ipv6)
    server = Server("localhost", 0)
    assert server.url.startswith("http://127.0.0.1:")
    server.stop()
    with pytest.raises(S2Error, match="--host|cannot listen"):
        Server("::1", 0)


@pytest.mark.parametrize("host, told", [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("127.0.0.1", "127.0.0.1")])
def test_the_address_that_is_told_works(tts, library, host, told):
    if ":" in host and not has_ipv6():
        pytest.skip("no IPv6 here")
    server = Server(host, 0)
    try:
        server.start(Service(tts, "fake", library=library), Access())
        assert server.url == f"http://{told}:{server.address[1]}" and server.only_here == (host == "127.0.0.1")
        with urllib.request.urlopen(server.url + "/health", timeout=10) as answer:
            assert json.load(answer)["status"] == "ok"
    finally:
        server.stop()


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_many_at_once(tts, start, connect):
    server = start(waiting=20)
    answers = []

    def ask():
        with Client(server.address) as client:
            for _ in range(3):
                answers.append(client.post(HELLO).answer().body == WAV)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 24
