"""A client slower than the model: what waits for it is told and bounded, and pauses buy it no time."""

import asyncio
import math
import threading
import time

import pytest

from s2mlx.errors import GenerationError
from s2mlx.server import speech as speech_module
from s2mlx.server.service import Service
from s2mlx.server.speech_request import SpeechRequest

from ..fakes import FRAME, RATE
from .test_speech import HELLO, WAV, until

SECONDS = FRAME / RATE  # of a frame


@pytest.fixture
async def speak(tts, library):
    """await speak() -> a Speech that nobody reads yet."""
    service, begun = Service(tts, "fake", library=library), []

    async def speak():
        begun.append(await service.speak(SpeechRequest("Hello.", voice="anna", format="wav")))
        return begun[-1]

    speak.service = service

    yield speak
    for speech in begun:
        speech.close()


async def pieces(speech):
    return [data async for data in speech]


async def until_so(what):
    """`until`, for what goes on in the same loop."""
    await asyncio.to_thread(until, what)


async def test_what_waits_for_the_client_is_ahead_of_it(tts, speak):
    tts.frames, tts.waiting_at = 20, 10
    tts.gate.close()
    began = time.monotonic()
    speech = await speak()
    more, lead = aiter(speech), tts.calls[0].lead
    await until_so(lambda: speech._ahead.waiting > 8.5 * SECONDS)  # of ten that were made, one is in hand
    for _ in range(9):
        await anext(more)
        ahead = lead()
        assert 10 * SECONDS - (time.monotonic() - began) <= ahead <= 10 * SECONDS
    tts.gate.open()
    assert len([data async for data in more]) == 11


async def test_the_model_waits_for_a_client_that_does_not_read(tts, speak, monkeypatch):
    monkeypatch.setattr(speech_module, "MOST_WAITING", 20.5 * SECONDS)
    tts.frames = 300
    speech = await speak()
    await until_so(lambda: tts.calls[0].lead() == math.inf)
    assert tts.made == 22  # one is in hand, and 21 wait
    assert len(await pieces(speech)) == 300 and tts.made == 300


async def test_who_stops_while_the_model_waits_ends_it(tts, speak, monkeypatch):
    monkeypatch.setattr(speech_module, "MOST_WAITING", 2.5 * SECONDS)
    tts.frames = 300
    speech = await speak()
    await until_so(lambda: tts.made == 4)
    speech.close()
    await until_so(lambda: tts.cancelled)


async def test_a_download_is_not_held_to_the_pace_of_speech(tts, speak):
    tts.frames, tts.pause = 80, 10
    assert len(b"".join(await pieces(await speak()))) == 44 + 80 * (FRAME + 10 * RATE) * 2


async def test_pauses_count_for_no_more_than_speech(tts, speak):
    tts.pause = 1
    speech = await speak()
    await pieces(speech)
    assert speech.seconds == pytest.approx(4 * SECONDS + 4) and speech.pace == pytest.approx(8 * SECONDS)
    tts.pause = 0
    speech = await speak()
    await pieces(speech)
    assert speech.pace == speech.seconds


async def test_a_model_that_is_closed_amid_the_speech_does_not_end_it_as_if_it_were_whole(tts, speak):
    tts.frames, tts.waiting_at = 20, 2
    tts.gate.close()
    speech = await speak()
    speech._cancel.set()
    with pytest.raises(GenerationError):
        await pieces(speech)


async def test_the_end_waits_for_the_threads_of_requests(tts, speak):
    """One that the interpreter's end found at work would keep the model's objects for ever."""
    tts.frames, tts.waiting_at = 20, 2
    tts.gate.close()
    speech = await speak()
    at_work = lambda: [thread for thread in threading.enumerate() if thread.name == "s2mlx-ahead"]
    await asyncio.to_thread(speak.service.join, 0.01)
    assert at_work()
    speech.close()
    await asyncio.to_thread(speak.service.join, 10)
    assert not at_work()


def test_a_slow_reader_of_pauses_is_let_go(tts, client, monkeypatch):
    monkeypatch.setattr(speech_module, "PATIENCE", -1.0)
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
