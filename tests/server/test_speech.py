"""Speech over a real socket: streamed, cancelled, queued, in a voice."""

import base64
import io
import json
import select
import time
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from s2mlx.audio import pcm16, stream_wav_header
from s2mlx.errors import EarError, GenerationError, ModelError, UsageError
from s2mlx.options import Options
from s2mlx.results import LENGTH, Hearing
from s2mlx.server import connection, service, speech

from ..fakes import FRAME, RATE
from ..fakes.synthesizer import by_sentence

HELLO = {"input": "Hello.", "response_format": "wav", "voice": "anna"}
WAV = stream_wav_header(RATE) + pcm16(np.full(4 * FRAME, 0.25, np.float32))


def until(what):
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_sound_and_what_the_model_was_asked(tts, client):
    answer = client.post({**HELLO, "model": "tts-1", "seed": 5, "temperature": 0.5, "max_frames": 9}).answer()
    assert answer.status == 200 and answer.fields["content-type"] == "audio/wav" and answer.body == WAV
    assert answer.fields["s2mlx-seed"] == "5"
    [call] = tts.calls
    assert call.text == "Hello." and call.voice.name == "anna"
    assert call.options == Options(seed=5, temperature=0.5, max_frames=9)


@pytest.mark.parametrize(
    "format, kind",
    [("mp3", "audio/mpeg"), ("flac", "audio/flac"), ("pcm", "audio/pcm"), ("opus", "audio/ogg; codecs=opus")],
)
def test_every_format_is_served(client, format, kind):
    answer = client.post({**HELLO, "response_format": format}).answer()
    assert answer.status == 200 and answer.fields["content-type"] == kind
    if format != "pcm":
        assert soundfile.info(io.BytesIO(answer.body)).channels == 1


def test_the_sound_leaves_while_it_is_made(tts, client):
    tts.gate.close()
    tts.waiting_at = 2
    client.post(HELLO)
    assert client.head()[0] == 200
    first = client.chunk() + client.chunk()
    assert first == WAV[: 44 + 4 * FRAME] and not tts.gate.is_open
    tts.gate.open()
    assert first + b"".join(iter(client.chunk, b"")) == WAV
    lead = tts.calls[0].lead()
    assert 0 < lead <= 4 * FRAME / RATE


def test_http_1_0_ends_with_the_connection(client):
    answer = client.post_1_0(HELLO).answer()
    assert answer.body == WAV and answer.fields["connection"] == "close" and "transfer-encoding" not in answer.fields


def test_events(client):
    answer = client.post({**HELLO, "stream_format": "sse"}).answer()
    assert answer.fields["content-type"] == "text/event-stream"
    events = [json.loads(part.removeprefix("data: ")) for part in answer.body.decode().split("\n\n") if part]
    assert [e["type"] for e in events] == 4 * ["speech.audio.delta"] + ["speech.audio.done"]
    assert b"".join(base64.b64decode(e["audio"]) for e in events[:-1]) == WAV
    assert events[-1]["usage"] == {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}


@pytest.mark.parametrize("waiting_at", [0, 2])
def test_a_client_that_leaves_cancels(tts, server, connect, waiting_at):
    """Before the first sound, and amid the speech."""
    tts.gate.close()
    tts.waiting_at = waiting_at
    leaving, staying = connect(server), connect(server)
    leaving.post({**HELLO, "input": "Never heard."})
    if waiting_at:
        leaving.head()
        leaving.chunk()
    until(lambda: tts.calls)
    staying.post(HELLO)
    leaving.close()
    until(lambda: tts.cancelled)
    tts.gate.open()
    assert staying.answer().body == WAV and tts.cancelled == ["Never heard."]
    assert len([line for line in server.log_lines if " left " in line]) == 1


@pytest.mark.skipif(not hasattr(select, "POLLRDHUP"), reason="this system tells no end behind unread bytes")
def test_who_leaves_with_another_request_sent_cancels_too(tts, server, connect):
    """What is left to read is not the end of the connection; that the client is gone shows all the same."""
    tts.gate.close()
    leaving = connect(server).post({**HELLO, "input": "Never heard."})
    until(lambda: tts.calls)
    leaving.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    leaving.close()
    until(lambda: tts.cancelled)


def test_a_second_request_in_the_pipe_is_answered_in_turn(client):
    client.post(HELLO)
    client.post({**HELLO, "input": ""})
    client.post(HELLO)
    assert [client.answer().status for _ in range(3)] == [200, 400, 200]


def test_the_queue_is_bounded(tts, start, connect):
    server = start(waiting=1)
    tts.gate.close()
    first, second, third = (connect(server) for _ in range(3))
    first.post(HELLO)
    requests = lambda: connect(server).ask("/health").json["requests"]
    until(lambda: requests() == 1)
    second.post({**HELLO, "input": "Second."})
    until(lambda: requests() == 2)
    answer = third.post(HELLO).answer()
    assert answer.status == 503 and int(answer.fields["retry-after"]) > 0
    assert answer.json["error"]["code"] == "server_busy"
    second.close()  # whoever left while waiting holds no place
    until(lambda: requests() == 1)
    third.post({**HELLO, "input": "Third."})
    until(lambda: requests() == 2)
    tts.gate.open()
    assert first.answer().body == third.answer().body == WAV
    assert [call.text for call in tts.calls] == ["Hello.", "Third."]


def test_requests_are_served_in_the_order_they_came(tts, server, connect):
    tts.gate.close()
    clients = []
    for number in range(4):
        clients.append(connect(server).post({**HELLO, "input": f"{number}."}))
        until(lambda: server.service.health()["requests"] == number + 1)
    tts.gate.open()
    assert all(client.answer().body == WAV for client in clients)
    assert [call.text for call in tts.calls] == ["0.", "1.", "2.", "3."]


def test_who_leaves_while_waiting_is_let_go_at_once(tts, server, connect):
    """The engine, which is busy, would not notice before its turn."""
    tts.gate.close()
    connect(server).post(HELLO)
    until(lambda: tts.calls)
    leaving = connect(server).post({**HELLO, "input": "Second."})
    until(lambda: server.service.health()["requests"] == 2)
    leaving.close()
    until(lambda: server.service.health()["requests"] == 1)
    assert any("left before its first sound" in line for line in server.log_lines) and len(tts.calls) == 1


def test_a_field_without_a_name_is_left_aside_like_others(client):
    answer = client.post({**HELLO, "more": 1, "": 2}).answer()
    assert answer.body == WAV and answer.fields["s2mlx-ignored"] == "more, ?"


@pytest.fixture
def hearing(tts, monkeypatch):
    """A recognizer hears of the first pass what is written, of the second something else."""
    tts.passes, tts.hearings = by_sentence, [Hearing("One.", 1, 0), Hearing("Who?", 1, 1, right=False, takes=2)]
    monkeypatch.setattr(service, "check_ear", lambda name: None)


def test_a_check_tells_what_was_heard(tts, server, client, hearing):
    asked = {**HELLO, "input": "One. Two.", "stream_format": "sse"}
    events = client.post({**asked, "check": True, "takes": 2}).answer().body.decode().split("\n\n")
    last = json.loads(events[-2].removeprefix("data: "))
    assert last["type"] == "speech.audio.done" and (last["heard"], last["wrong"]) == (2, 1)
    assert tts.calls[0].options == Options(check=True, takes=2)
    until(lambda: any("1 of 2 passes of a request were not heard as they are written" in x for x in server.log_lines))
    events = client.post(asked).answer().body.decode().split("\n\n")
    assert not {"heard", "wrong"} & json.loads(events[-2].removeprefix("data: ")).keys()


def test_a_check_where_nobody_can_hear(client, tts, monkeypatch):
    def none(name):
        raise EarError("no recognizer is installed")

    monkeypatch.setattr(service, "check_ear", none)
    answer = client.post({**HELLO, "check": True}).answer()
    assert answer.status == 400 and "no recognizer is installed" in answer.error and not tts.calls
    assert answer.json["error"]["param"] == "check"
    assert client.post({**HELLO, "check": False}).answer().body == WAV


def test_a_variable_that_names_no_recognizer_is_told_to_who_asks_for_a_check(client, tts, monkeypatch):
    monkeypatch.setenv("S2MLX_EAR", "trumpet")
    answer = client.post({**HELLO, "check": True}).answer()
    assert answer.status == 400 and "no recognizer is called trumpet" in answer.error and not tts.calls


def test_a_slow_reader_is_let_go(tts, server, connect, monkeypatch):
    monkeypatch.setattr(connection, "WRITE_SECONDS", 0.2)
    tts.frames = 3000  # 12 MB, more than sockets hold
    slow, other = connect(server), connect(server)
    slow.post({**HELLO, "input": "Slow."})
    until(lambda: tts.calls)
    tts.frames = 4
    assert other.post(HELLO).answer().body == WAV
    until(lambda: any("left after" in line for line in server.log_lines))


def test_a_reader_must_keep_half_the_pace(tts, server, client, monkeypatch):
    monkeypatch.setattr(speech, "PATIENCE", -1000.0)
    client.post(HELLO)
    client.head()
    with pytest.raises(ConnectionError):
        while client.chunk():
            pass


@pytest.mark.parametrize(
    "failure, status, kind",
    [
        (UsageError("there is no text to speak"), 400, "invalid_request_error"),
        (GenerationError("the text is too long for the context"), 400, "invalid_request_error"),
        (ModelError("the file is damaged"), 500, "server_error"),
    ],
)
def test_a_failure_before_the_first_sound(tts, client, failure, status, kind):
    tts.fail_at, tts.failure = 0, failure
    answer = client.post(HELLO).answer()
    assert answer.status == status and answer.error == str(failure) and answer.json["error"]["type"] == kind
    tts.fail_at = None
    assert client.post(HELLO).answer().body == WAV


def test_out_of_memory_is_the_servers_fault(tts, client):
    tts.fail_at, tts.failure = 0, GenerationError("out of memory")
    tts.failure.__cause__ = MemoryError()
    assert client.post(HELLO).answer().status == 500


def test_a_failure_amid_the_speech_breaks_it_off(tts, server, connect):
    tts.fail_at, tts.failure = 2, ModelError("broken")
    client = connect(server).post(HELLO)
    client.head()
    assert len(client.chunk()) and len(client.chunk())
    with pytest.raises(ConnectionError):
        client.chunk()
    with pytest.raises(ConnectionError):
        connect(server).post_1_0(HELLO).answer()
    client = connect(server).post({**HELLO, "stream_format": "sse"})
    client.head()
    client.chunk(), client.chunk()
    event = json.loads(client.chunk().removeprefix(b"data: "))
    assert event["type"] == "error" and event["error"]["message"] == "broken"


def test_a_fault_of_ours_is_told_at_both_ends(tts, server, connect):
    tts.failure = ZeroDivisionError("ours")
    for tts.fail_at in (0, 2):
        client = connect(server).post(HELLO)
        if not tts.fail_at:
            answer = client.answer()
            assert answer.status == 500 and "ours" not in answer.error and client.ask("/health").status == 200
        else:
            with pytest.raises(ConnectionError):
                client.answer()
    until(lambda: len(server.faults) == 2)
    assert {type(fault) for fault in server.faults} == {ZeroDivisionError}
    server.faults.clear()


def test_no_sound_at_all_is_an_error(tts, client):
    tts.frames = 0
    assert "before its first sound" in client.post(HELLO).answer().error


def test_a_limit_that_ended_the_speech_is_said(tts, server, client):
    tts.finish = LENGTH
    client.post(HELLO).answer()
    until(lambda: any("limit of frames" in line for line in server.log_lines))


NAMES = ("fake", "Fake S2", "tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15", "tts-1-1106")
OTHERS = ("kokoro", "tts", "gpt-4", "tts-2", "tts-1-", "")


def test_any_name_of_a_model_speaks(server, client):
    for name in (*NAMES, *OTHERS, "kokoro"):
        assert client.post({**HELLO, "model": name}).answer().body == WAV
    assert sum("'kokoro'" in line for line in server.log_lines) == 1
    assert not any("tts-1-hd" in line for line in server.log_lines)


def test_strictly_a_model_that_is_not_served_does_not_speak(start, connect):
    client = connect(start(strict=True))
    for name in NAMES:
        assert client.post({**HELLO, "model": name}).answer().status == 200
    for name in OTHERS:
        answer = client.post({**HELLO, "model": name}).answer()
        assert answer.status == 404 and answer.json["error"]["code"] == "model_not_found"
    assert client.post({**HELLO, "stream": True}).answer().json["error"]["param"] == "stream"


def test_what_is_left_aside_is_told(server, client):
    fields = {"stream": True, "instructions": "Be kind.", "sample rate\r\nX: \u00e9": 1}
    for _ in range(2):
        answer = client.post({**HELLO, **fields}).answer()
        assert answer.body == WAV and answer.fields["s2mlx-ignored"] == "stream, instructions, sample?rate??X???"
    assert sum("'instructions'" in line for line in server.log_lines) == 1
    assert not any("\n" in line for line in server.log_lines)
    assert "s2mlx-ignored" not in client.post(HELLO).answer().fields


def test_models(client):
    assert [m["id"] for m in client.ask("/v1/models").json["data"]] == ["fake"]
    assert client.ask("/v1/audio/models").json == {"models": [{"id": "fake"}]}
    for name in NAMES:
        model = client.ask("/v1/models/" + name.replace(" ", "%20"))
        assert model.status == 200 and model.json["id"] == name and model.json["object"] == "model"
    for name in ("nobody", "kokoro"):
        assert client.ask(f"/v1/models/{name}").status == 404


def test_what_the_model_cannot_speak_is_in_the_log_once(tts, server, client):
    tts.config = replace(tts.config, name="Fake S2", languages=("en",), tags=False)
    for _ in range(2):
        assert client.post({**HELLO, "input": "Guten Tag, wie geht es Ihnen? <speaker:0>Gut."}).answer().status == 200
    told = [line for line in server.log_lines if "German words" in line or "<speaker:0>" in line]
    assert len(told) == 2 and told[0].startswith("Fake S2 speaks English; ")


def test_a_text_without_words_is_the_clients_fault(client):
    for text in ("🙂", "***", "..."):
        answer = client.post({**HELLO, "input": text}).answer()
        assert answer.status == 400 and "nothing to say" in answer.json["error"]["message"]
