"""The WebSocket: text in pieces, sound and spans back while it is written; who may open one; how it ends."""

import asyncio
import base64
import json
import re
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
from uvicorn import Config
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect as open_socket

from s2mlx.errors import ModelError
from s2mlx.results import Hearing
from s2mlx.server import live_speech, service, socket
from s2mlx.server.connection import Clients
from s2mlx.server.sound import PCM_RATE

from ..fakes import FRAME, RATE

PATH = "/v1/audio/speech/stream"
SECONDS = 4 * FRAME / RATE  # of a pass of the fake model
TEXT = "One sentence. Another one. And a third."


class Talk:
    """A client that waits a minute at most."""

    def __init__(self, server, **more):
        host, port = server.address[:2]
        opened = open_socket(f"ws://{host}:{port}{PATH}", open_timeout=60, close_timeout=5, **more)
        self.socket = opened.__enter__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def say(self, **message):
        self.socket.send(json.dumps(message))
        return self

    def next(self):
        """JSON as a dict, sound as bytes."""
        came = self.socket.recv(60)
        return came if isinstance(came, bytes) else json.loads(came)

    def until(self, kind):
        """-> what came to the message of that kind, which is the last, and all the sound before it"""
        told, sound = [], b""
        while not told or told[-1]["type"] != kind:
            if isinstance(came := self.next(), bytes):
                sound += came
            else:
                told.append(came)
        return told, sound

    def error(self):
        """The message of the error that ends it, and the code of the end."""
        told, _ = self.until("error")
        with pytest.raises(ConnectionClosed):
            self.socket.recv(60)
        return told[-1]["error"], self.socket.close_code


def spans(told):
    return [(one["text"], one["span"]) for one in told if one["type"] == "span"]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_the_text_comes_in_pieces(server, size):
    with Talk(server) as talk:
        talk.say(response_format="pcm", seed=5, voice="anna")
        for begin in range(0, len(TEXT), size):
            talk.say(text=TEXT[begin : begin + size])
        talk.say(done=True)
        told, sound = talk.until("done")
    assert told[0] == {"type": "start", "seed": 5, "format": "pcm", "content_type": "audio/pcm"}
    found = spans(told)
    assert "".join(TEXT[begin:end] for _, (begin, end) in found) == TEXT
    assert [words for words, _ in found] == [TEXT[begin:end].strip() for _, (begin, end) in found]
    assert told[-1]["finish_reason"] == "stop"
    assert told[-1]["seconds"] == pytest.approx(len(found) * SECONDS, abs=0.001)
    assert len(sound) / 2 / PCM_RATE == pytest.approx(len(found) * SECONDS, abs=0.01)
    assert [one["at"] for one in told if one["type"] == "span"] == pytest.approx(
        [part * SECONDS for part in range(len(found))], abs=0.001
    )


def test_sound_comes_before_the_text_is_all_there(server, client):
    with Talk(server) as talk:
        talk.say(text="A sentence. The next one beg", response_format="pcm")
        assert talk.next()["type"] == "start"
        assert talk.next()["text"] == "A sentence."
        assert isinstance(talk.next(), bytes)
        # While it waits for more, others are served.
        assert client.post({"input": "Between.", "response_format": "pcm"}).answer().status == 200
        talk.say(flush=True)
        assert talk.until("span")[0][-1]["text"] == "The next one beg"
        talk.say(text="ins.", done=True)
        told, _ = talk.until("done")
        assert spans(told) == [("ins.", [28, 32])]


def test_a_check_tells_what_was_heard(server, tts, monkeypatch):
    monkeypatch.setattr(service, "check_ear", lambda name: None)
    tts.hearings = [Hearing("Hello.", 1, 0)]
    with Talk(server) as talk:
        told, _ = talk.say(text="Hello.", done=True, check=True).until("done")
        assert (told[-1]["heard"], told[-1]["wrong"]) == (1, 0)
        told, _ = talk.say(text="Hello.", done=True).until("done")
        assert "heard" not in told[-1]


def test_speeches_follow_each_other(server):
    with Talk(server) as talk:
        for seed in (1, 2):
            told, sound = talk.say(text="Hello.", done=True, seed=seed, response_format="wav").until("done")
            assert told[0]["seed"] == seed and sound[:4] == b"RIFF"


def test_halves_of_a_character_are_put_together(server, tts):
    with Talk(server) as talk:
        talk.socket.send('{"text": "Look \\ud83d"}')
        talk.socket.send('{"text": "\\ude00 here.", "done": true}')
        assert spans(talk.until("done")[0]) == [("Look \U0001f600 here.", [0, 12])]


def test_half_a_character_does_not_begin_the_next_speech(server, tts):
    with Talk(server) as talk:
        talk.socket.send('{"text": "One. \\ud83d", "done": true}')
        assert spans(talk.until("done")[0])[0][0] == "One."
        talk.socket.send('{"text": "Two.", "done": true}')
        assert spans(talk.until("done")[0]) == [("Two.", [0, 4])]


@pytest.mark.parametrize(
    "message, part",
    [
        ("[1]", "a message must be a JSON object"),
        ("nonsense", "a message is not valid JSON"),
        ('{"text": 5}', "text must be a string"),
        ('{"text": "a\\u0000"}', "NUL"),
        ('{"voice": "nobody", "text": "Hello.", "done": true}', "there is no voice 'nobody'"),
        ('{"response_format": "aac"}', "response_format must be one of"),
        ('{"speed": 9}', "speed"),
        ('{"stream_format": "sse"}', "stream_format"),
        (b"\0\1", "messages are JSON"),
    ],
)
def test_what_is_refused(server, message, part):
    with Talk(server) as talk:
        talk.socket.send(message)
        error, code = talk.error()
        assert part in error["message"] and code == 1008


@pytest.mark.parametrize("gone", [True, False])
def test_who_does_not_take_its_error_is_no_fault_of_ours(monkeypatch, gone):
    monkeypatch.setattr(live_speech, "WRITE_SECONDS", 0.05)
    came = [{"type": "websocket.connect"}, {"type": "websocket.receive", "text": "nonsense"}]
    faults = []

    async def receive():
        return came.pop(0)

    async def send(message):
        if message["type"] != "websocket.accept":
            if gone:
                raise ConnectionResetError
            await asyncio.sleep(30)

    live = live_speech.LiveSpeech(None, lambda text: None, faults.append)
    asyncio.run(live({"type": "websocket", "subprotocols": [], "state": {}}, receive, send))
    assert not faults and not came


def test_the_connection_of_who_reads_nothing_ends(monkeypatch):
    """Its transport would wait for ever to send what is on its way, and nobody could have the place."""
    monkeypatch.setattr(socket, "WRITE_SECONDS", 0.05)
    aborted = []

    async def stuck(seconds):
        state = Clients(1, print, print)
        one = socket.Socket(config=Config(None), server_state=state, app_state={})
        one.transport = SimpleNamespace(abort=lambda: aborted.append(seconds))
        one.pause_writing()
        await asyncio.sleep(seconds)
        one.resume_writing()
        await asyncio.sleep(0.1)

    asyncio.run(stuck(0))
    assert not aborted
    asyncio.run(stuck(0.2))
    assert aborted


def test_the_manner_of_speaking_comes_first(server):
    with Talk(server) as talk:
        talk.say(text="Hello. ").say(seed=4)
        assert "amid a text" in talk.error()[0]["message"]


def test_a_fault_amid_speech_is_told(server, tts):
    tts.fail_at, tts.failure = 4, ModelError("broken weights")
    with Talk(server) as talk:
        talk.say(text="One. Two.", flush=True).say(text=" Three.", done=True)
        error, code = talk.error()
        assert error["message"] == "broken weights" and code == 1011


def test_an_end_of_the_client_ends_its_speech(server, tts):
    tts.gate.close()
    talk = Talk(server).say(text="Hello there. And more.")
    _until(lambda: tts.calls)
    talk.socket.close()
    _until(lambda: server.service.health()["requests"] == 0)
    tts.gate.open()


def test_silence_amid_a_text(server, monkeypatch):
    monkeypatch.setattr(live_speech, "TEXT_SECONDS", 0.1)
    with Talk(server) as talk:
        error, code = talk.say(text="Never finis").error()
        assert "did not arrive in time" in error["message"] and code == 1008


def test_places_are_limited(start):
    server = start(waiting=0)
    with Talk(server) as first, Talk(server) as second:
        first.say(text="Held. And")
        first.until("span")
        error, code = second.say(text="Hello.").error()
        assert error["code"] == "server_busy" and code == 1013


def test_the_end_of_the_server(server):
    with Talk(server) as talk:
        talk.say(text="Hello there. And")
        talk.until("span")
        server.stop()
        with pytest.raises(ConnectionClosed):
            while True:
                talk.next()


def test_the_key(start):
    server = start(key="s3cret/ä")
    word = base64.urlsafe_b64encode("s3cret/ä".encode()).decode().rstrip("=")
    for more in (
        {"additional_headers": {"Authorization": "Bearer " + "s3cret/ä".encode().decode("latin-1")}},
        {"subprotocols": ["s2mlx", f"s2mlx.key.{word}"]},
    ):
        with Talk(server, **more) as talk:
            assert talk.socket.subprotocol == ("s2mlx" if "subprotocols" in more else None)
            talk.say(text="Hello.", done=True).until("done")
    for more in ({}, {"subprotocols": ["s2mlx", "s2mlx.key.bm8"]}, {"subprotocols": ["s2mlx.key.!"]}):
        with pytest.raises(InvalidStatus) as refused:
            Talk(server, **more)
        assert refused.value.response.status_code == 401
        assert "needs its API key" in json.loads(refused.value.response.body)["error"]["message"]


def test_pages_that_were_not_invited(start):
    server = start(origins=("https://friend.example",))
    own = "http://{}:{}".format(*server.address[:2])
    for origin in ("https://friend.example", own):
        with Talk(server, origin=origin) as talk:
            talk.say(text="Hello.", done=True).until("done")
    for origin in ("https://evil.example", "null", own + "0"):
        with pytest.raises(InvalidStatus) as refused:
            Talk(server, origin=origin)
        assert refused.value.response.status_code == 403


def test_a_name_from_the_internet(server):
    with pytest.raises(InvalidStatus) as refused:
        Talk(server, additional_headers={"Host": "evil.example"})
    assert refused.value.response.status_code in (400, 403)


def test_it_is_no_plain_request(client):
    answer = client.ask(PATH)
    assert answer.status == 426 and "is a WebSocket" in answer.error


def test_without_words(server, tts):
    with Talk(server) as talk:
        error, code = talk.say(done=True).error()
        assert "nothing to say" in error["message"] and code == 1008


def test_the_sound_is_that_of_the_model(server, tts):
    tts.sound = lambda frames: np.linspace(-0.5, 0.5, frames * FRAME, dtype=np.float32)
    with Talk(server) as talk:
        _, sound = talk.say(text="Hello.", done=True, response_format="wav").until("done")
    np.testing.assert_allclose(np.frombuffer(sound[44:], "<i2") / 32767, tts.sound(4), atol=1e-4)


def test_the_program_of_the_paper(server, tmp_path, monkeypatch):
    paper = Path(live_speech.__file__).with_name("README.md").read_text()
    (program,) = re.findall(r"```py\n(.*?)```", paper, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(program.replace("127.0.0.1:8000", "{}:{}".format(*server.address[:2])), {})
    passes = soundfile.info("out.mp3").duration / SECONDS  # the two sentences together, or each, as they came
    assert any(passes == pytest.approx(count, abs=0.5) for count in (1, 2))


def _until(done):
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)
