"""A client slower than the model: what waits for it is told and bounded, and pauses buy it no time."""

import math
import threading
import time

import pytest

from s2mlx.server import handler
from s2mlx.server import speech as speech_module
from s2mlx.server.protocol import SpeechRequest
from s2mlx.server.service import Service

from .fakes import FRAME, RATE
from .test_speech import HELLO, WAV, until

SECONDS = FRAME / RATE  # of a frame


@pytest.fixture
def speak(tts, library):
    """speak() -> a Speech that nobody reads yet."""
    cancel = threading.Event()
    request = SpeechRequest("Hello.", voice="anna", format="wav")
    yield lambda: Service(tts, "fake", library=library).speak(request, cancel)
    cancel.set()


def test_what_waits_for_the_client_is_ahead_of_it(tts, speak):
    tts.frames, tts.waiting_at = 20, 10
    tts.go.clear()
    began = time.monotonic()
    speech = speak()
    pieces, lead = iter(speech), tts.calls[0]["lead"]
    until(lambda: speech._ahead.waiting > 8.5 * SECONDS)  # of ten that were made, one is in hand
    for _ in range(9):
        next(pieces)
        ahead = lead()
        assert 10 * SECONDS - (time.monotonic() - began) <= ahead <= 10 * SECONDS
    tts.go.set()
    assert len(list(pieces)) == 11


def test_the_model_waits_for_a_client_that_does_not_read(tts, speak, monkeypatch):
    monkeypatch.setattr(speech_module, "MOST_WAITING", 20.5 * SECONDS)
    tts.frames = 300
    speech = speak()
    until(lambda: tts.calls[0]["lead"]() == math.inf)
    assert tts.made == 22  # one is in hand, and 21 wait
    assert len(list(speech)) == 300 and tts.made == 300


def test_who_stops_while_the_model_waits_ends_it(tts, speak, monkeypatch):
    monkeypatch.setattr(speech_module, "MOST_WAITING", 2.5 * SECONDS)
    tts.frames = 300
    speech = speak()
    until(lambda: tts.made == 4)
    speech.close()
    until(lambda: tts.cancelled)


def test_a_download_is_not_held_to_the_pace_of_speech(tts, speak):
    tts.frames, tts.pause = 80, 10
    assert len(b"".join(speak())) == 44 + 80 * (FRAME + 10 * RATE) * 2


def test_pauses_count_for_no_more_than_speech(tts, speak):
    tts.pause = 1
    speech = speak()
    list(speech)
    assert speech.seconds == pytest.approx(4 * SECONDS + 4) and speech.pace == pytest.approx(8 * SECONDS)
    tts.pause = 0
    speech = speak()
    list(speech)
    assert speech.pace == speech.seconds


def test_a_slow_reader_of_pauses_is_let_go(tts, client, monkeypatch):
    monkeypatch.setattr(handler, "PATIENCE", -1.0)
    tts.pause = 1
    client.post(HELLO)
    client.head()
    with pytest.raises(ConnectionError):
        while client.chunk():
            pass


def test_a_request_that_gets_no_thread_keeps_nobody_waiting(tts, server, client, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _no_thread(threading.Thread.start))
        assert client.post(HELLO).answer().status == 500
    server.faults.clear()
    assert client.post(HELLO).answer().body == WAV


def _no_thread(start):
    def refuse(thread):
        if thread.name == "s2mlx-ahead":
            raise RuntimeError("can't start new thread")
        start(thread)

    return refuse
