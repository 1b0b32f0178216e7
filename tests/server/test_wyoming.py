"""Wyoming, spoken by its package's own client."""

import asyncio
import json
import socket
import time
from contextlib import ExitStack

import numpy as np
import pytest

from s2mlx.audio import pcm16
from s2mlx.errors import GenerationError, ModelError
from s2mlx.server.speech_request import MOST_CHARACTERS
from s2mlx.voices import Voice

from ..fakes import BOOKS, FRAME, RATE

pytest.importorskip("wyoming", reason="the package wyoming is not here: pip install 's2mlx[wyoming]'")

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

from s2mlx.server import speech, wyoming

SOUND = pcm16(np.full(4 * FRAME, 0.25, np.float32))
ANNA = SynthesizeVoice(name="anna")


@pytest.fixture
def server(start):
    return start(wyoming=True)


class Talk(AsyncTcpClient):
    """A client that waits ten seconds at most."""

    def __init__(self, server):
        super().__init__(*server.wyoming.address)

    async def read_event(self):
        return await asyncio.wait_for(super().read_event(), 60)

    async def say(self, *what):
        for one in what:
            await self.write_event(one if isinstance(one, Event) else one.event())
        return self

    async def raw(self, data):
        self._writer.write(data)
        await self._writer.drain()

    async def hear(self, kind):
        event = await self.read_event()
        assert event is not None and kind.is_type(event.type), event
        return kind.from_event(event)

    async def sound(self):
        """The bytes of one whole sound."""
        start = await self.hear(AudioStart)
        assert (start.rate, start.width, start.channels) == (RATE, 2, 1)
        data = bytearray()
        while (event := await self.read_event()).type == "audio-chunk":
            chunk = AudioChunk.from_event(event)
            assert (chunk.rate, chunk.width, chunk.channels) == (RATE, 2, 1)
            data += chunk.audio
        assert AudioStop.is_type(event.type), event
        return bytes(data)

    async def ended(self):
        try:
            return await self.read_event() is None
        except ConnectionError:
            return True

    async def error(self):
        """What is heard of a failure, which is also the end of the connection."""
        error = await self.hear(Error)
        assert error.text and error.code
        assert await self.read_event() is None
        return error


@pytest.fixture
async def talk(server):
    async with Talk(server) as client:
        yield client


async def until(what):
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        await asyncio.sleep(0.002)


async def test_describe(talk, tts, library):
    library.add("bob", Voice(np.ones((BOOKS, 3), np.int32), "Bob's words."))
    await talk.say(Describe())
    info = await talk.hear(Info)
    [program] = info.tts
    assert program.supports_synthesize_streaming and program.installed and program.attribution.name
    assert program.name == "s2mlx" and "fake" in program.description and program.version
    assert [voice.name for voice in program.voices] == ["anna", "bob", "default"]
    for voice in program.voices:
        assert voice.languages == list(tts.config.languages) and voice.installed
        assert voice.attribution.name == "Fish Audio"


async def test_a_text_is_spoken(talk, tts, server):
    await talk.say(Synthesize("Hello there. And more.", voice=ANNA))
    assert await talk.sound() == SOUND
    [call] = tts.calls
    assert call.text == "Hello there. And more." and call.voice.name == "anna"
    await until(lambda: any("by Wyoming" in line for line in server.log_lines))


async def test_requests_on_one_connection_are_answered_in_turn(talk, tts):
    await talk.say(Synthesize("One.", voice=ANNA), Synthesize("Two.", voice=ANNA))
    assert await talk.sound() == SOUND and await talk.sound() == SOUND
    assert [call.text for call in tts.calls] == ["One.", "Two."]


@pytest.mark.parametrize("voice", [None, SynthesizeVoice(name="default"), SynthesizeVoice(language="en")])
async def test_the_servers_choice_of_a_voice(start, tts, library, voice):
    server = start(wyoming=True, voice=library.get("anna"))
    async with Talk(server) as talk:
        await talk.say(Synthesize("Hello.", voice=voice))
        await talk.sound()
    assert tts.calls[0].voice.name == "anna"


async def test_a_saved_voice_may_be_called_default(talk, tts, library):
    library.add("default", Voice(np.ones((BOOKS, 3), np.int32), "Words."))
    await talk.say(Describe())
    info = await talk.hear(Info)
    assert [voice.name for voice in info.tts[0].voices] == ["anna", "default"]
    await talk.say(Synthesize("Hello.", voice=SynthesizeVoice(name="default")))
    await talk.sound()
    assert tts.calls[0].voice.name == "default"


async def test_a_stream_is_spoken_by_sentences(talk, tts):
    tts.gate.close()
    await talk.say(SynthesizeStart(voice=ANNA), SynthesizeChunk("It rains. We sta"), SynthesizeChunk("y here. Th"))
    await until(lambda: tts.calls)
    tts.gate.let(1)
    await talk.hear(AudioStart)
    assert AudioChunk.is_type((await talk.read_event()).type)
    tts.gate.open()
    await talk.say(
        SynthesizeChunk("en we eat."),
        Synthesize("It rains. We stay here. Then we eat.", voice=ANNA),  # for servers that know no streams
        SynthesizeStop(),
    )
    kinds = []
    while "synthesize-stopped" not in kinds:
        kinds.append((await talk.read_event()).type)
    assert kinds[-2:] == ["audio-stop", "synthesize-stopped"] and set(kinds[:-2]) == {"audio-chunk"}
    [call] = tts.calls
    assert call.text.characters == len("It rains. We stay here. Then we eat.") and call.voice.name == "anna"
    await talk.say(Synthesize("Again.", voice=ANNA))  # and the connection is there for more
    assert await talk.sound() == SOUND


async def test_a_stream_without_words_has_an_end_and_no_sound(talk, tts):
    await talk.say(SynthesizeStart(voice=ANNA), SynthesizeChunk("... "), SynthesizeStop())
    await talk.hear(SynthesizeStopped)
    assert not tts.calls


async def test_other_events_are_answered_while_it_speaks(talk, tts):
    tts.gate.close()
    await talk.say(Synthesize("Long.", voice=ANNA))
    await until(lambda: tts.calls)
    await talk.say(Event("transcribe", {"name": "x"}), Ping("here?"))
    assert (await talk.hear(Pong)).text == "here?"
    tts.gate.open()
    assert await talk.sound() == SOUND


@pytest.mark.parametrize("waiting_at", [0, 2])
@pytest.mark.parametrize("half", [False, True])
async def test_a_client_that_leaves_cancels(server, tts, waiting_at, half):
    """Before the first sound, and amid the speech; also by closing the sending half only."""
    tts.gate.close()
    tts.waiting_at = waiting_at
    async with Talk(server) as leaving, Talk(server) as staying:
        await leaving.say(Synthesize("Never heard.", voice=ANNA))
        if waiting_at:
            await leaving.hear(AudioStart)
            await leaving.hear(AudioChunk)
        await until(lambda: tts.calls)
        await staying.say(Synthesize("Heard.", voice=ANNA))
        if half:
            leaving._writer.write_eof()
        else:
            await leaving.disconnect()
        await until(lambda: tts.cancelled)
        tts.gate.open()
        assert await staying.sound() == SOUND and tts.cancelled == ["Never heard."]
    assert len([line for line in server.log_lines if " left " in line]) == 1


async def test_one_queue_with_http(start, tts, connect):
    server = start(wyoming=True, waiting=0)
    tts.gate.close()
    client = connect(server).post({"input": "First.", "response_format": "wav", "voice": "anna"})
    await until(lambda: tts.calls)
    async with Talk(server) as talk:
        await talk.say(Synthesize("Second.", voice=ANNA))
        assert (await talk.error()).code == "server_busy"
    tts.gate.open()
    answer = await asyncio.to_thread(client.answer)
    assert answer.status == 200
    async with Talk(server) as talk:  # no place was lost
        await talk.say(Synthesize("Third.", voice=ANNA))
        assert await talk.sound() == SOUND


@pytest.mark.parametrize(
    "event, words",
    [
        (Synthesize("Hi.", voice=SynthesizeVoice(name="nobody")), "no voice 'nobody'"),
        (Synthesize("...", voice=ANNA), "nothing to say"),
        (Synthesize("x" * (MOST_CHARACTERS + 1), voice=ANNA), "split it"),
        (Event("synthesize", {"text": "<b>Hi</b>", "text_format": "ssml"}), "SSML"),
        (SynthesizeChunk("Hi."), "without synthesize-start"),
        (SynthesizeStop(), "without synthesize-start"),
        (Event("synthesize", {"voice": {"name": "anna"}}), "needs a text"),
        (Event("synthesize", {"text": 5}), "needs a text"),
        (Event("synthesize", {"text": "Hi.", "voice": {"name": 5}}), "voice must be a string"),
        (Event("synthesize", {"text": "a\0b", "voice": {"name": "anna"}}), "NUL"),
    ],
)
async def test_what_cannot_be_done_is_an_error_and_the_end(talk, server, event, words):
    await talk.say(event)
    assert words in (await talk.error()).text
    assert any(words in line for line in server.log_lines)


async def test_a_second_start_amid_a_stream_is_an_error(talk):
    await talk.say(SynthesizeStart(voice=ANNA), SynthesizeStart(voice=ANNA))
    assert "twice" in (await talk.error()).text


@pytest.mark.parametrize("fail_at, failure", [(0, ModelError("damaged")), (2, GenerationError("it broke"))])
async def test_a_failure_of_the_model_is_an_error(talk, server, tts, fail_at, failure):
    tts.fail_at, tts.failure = fail_at, failure
    await talk.say(Synthesize("Hi.", voice=ANNA))
    if fail_at:
        await talk.hear(AudioStart)
        for _ in range(fail_at):
            await talk.hear(AudioChunk)
    assert (await talk.error()).text == str(failure)
    assert server.service.health()["requests"] == 0


async def test_a_fault_of_ours_is_told_on_both_sides(talk, server, tts):
    tts.fail_at, tts.failure = 0, ZeroDivisionError("ours")
    await talk.say(Synthesize("Hi.", voice=ANNA))
    assert "terminal" in (await talk.error()).text
    assert [str(fault) for fault in server.faults] == ["ours"]
    server.faults.clear()


@pytest.mark.parametrize(
    "line",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        + json.dumps({"type": "synthesize", "data": {"text": "Hi."}}).encode(),
        b"5",
        b"[]",
        b"null",
        b"{}",
        b'{"type": 5}',
        b'{"type": "describe", "data": 5}',
        b'{"type": "describe", "data": null, "data_length": 2}\n{}',
        b'{"type": "describe", "data_length": "x"}',
        b'{"type": "describe", "data_length": 1.5}\n{}',
        b'{"type": "describe", "data_length": 99999999999}',
        b'{"type": "describe", "payload_length": 99999999999}',
        b"[" * 5000,
        b"x" * 600_000,
        b"\xff\xfe",
    ],
    ids=range(15),
)
async def test_what_is_no_event_is_the_end(talk, tts, line):
    """The lines behind it are not looked at: a web page could write them below a head of HTTP."""
    await talk.raw(line + b'\n{"type": "synthesize", "data": {"text": "Hi.", "voice": {"name": "anna"}}}\n')
    assert "no event of Wyoming" in (await talk.error()).text
    assert not tts.calls


async def test_a_reader_must_keep_half_the_pace(talk, monkeypatch, server):
    monkeypatch.setattr(speech, "PATIENCE", -1000.0)
    await talk.say(Synthesize("Hi.", voice=ANNA))
    while await talk.read_event() is not None:
        pass
    await until(lambda: any("left after" in line for line in server.log_lines))


async def test_who_sends_no_more_text_keeps_nobody_waiting(talk, tts, monkeypatch, server):
    monkeypatch.setattr(wyoming, "TEXT_SECONDS", 0.05)
    await talk.say(SynthesizeStart(voice=ANNA), SynthesizeChunk("It rains. We stay he"))
    while AudioChunk.is_type((event := await talk.read_event()).type) or AudioStart.is_type(event.type):
        pass
    assert "in time" in Error.from_event(event).text
    await until(lambda: server.service.health()["requests"] == 0)


async def test_who_is_silent_is_let_go(start, monkeypatch):
    monkeypatch.setattr(wyoming, "IDLE_SECONDS", 0.05)
    async with Talk(start(wyoming=True)) as talk:
        assert await talk.read_event() is None
    monkeypatch.setattr(wyoming, "IDLE_SECONDS", 60)
    async with Talk(start(wyoming=True)) as talk:
        await talk.say(Ping())
        await talk.hear(Pong)
        monkeypatch.setattr(wyoming, "IDLE_SECONDS", 0.05)
        await talk.say(SynthesizeStart())
        assert "in time" in (await talk.error()).text


async def test_the_longest_silent_makes_room(server, tts, monkeypatch):
    monkeypatch.setattr(wyoming, "MOST_CLIENTS", 2)
    tts.gate.close()
    async with Talk(server) as speaking, Talk(server) as silent:
        await speaking.say(Synthesize("Hi.", voice=ANNA))
        await until(lambda: tts.calls)
        await silent.say(Ping())
        await silent.hear(Pong)
        async with Talk(server) as newest:
            await newest.say(Synthesize("Hi too.", voice=ANNA))
            assert await silent.ended()
            await until(lambda: server.service.health()["requests"] == 2)
            async with Talk(server) as too_many:
                assert (await too_many.error()).code == "server_busy"
            tts.gate.open()
            assert await speaking.sound() == SOUND and await newest.sound() == SOUND


async def test_a_flood_of_silent_clients_shuts_nobody_out(server, monkeypatch):
    monkeypatch.setattr(wyoming, "MOST_CLIENTS", 3)
    with ExitStack() as flood:
        for _ in range(60):
            flood.enter_context(socket.create_connection(server.wyoming.address, 10))
        async with Talk(server) as talk:
            await talk.say(Describe())
            await talk.hear(Info)
    assert not any("refused" in line for line in server.log_lines)


async def test_too_much_at_once_is_refused(talk, tts):
    tts.gate.close()
    await talk.say(*(Synthesize("Hi.", voice=ANNA) for _ in range(12)))
    assert (await talk.error()).code == "server_busy"
    tts.gate.open()


async def test_stopping_ends_what_runs(server, tts):
    tts.gate.close()
    async with Talk(server) as idle, Talk(server) as speaking, Talk(server) as waiting:
        await idle.say(Ping())
        await idle.hear(Pong)
        await speaking.say(Synthesize("Hi.", voice=ANNA))
        await until(lambda: tts.calls)
        await waiting.say(Synthesize("Hi too.", voice=ANNA))
        await until(lambda: server.service.health()["requests"] == 2)
        await asyncio.to_thread(server.stop)
        assert "stopping" in (await speaking.error()).text and "stopping" in (await waiting.error()).text
        assert await idle.read_event() is None
        await until(lambda: tts.cancelled == ["Hi."])
    with pytest.raises(OSError):
        await Talk(server).connect()
