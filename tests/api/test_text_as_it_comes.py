"""Text that is written while it is spoken: from generators, other threads and event loops, stopped in every wait."""

import asyncio
import threading
import time

import numpy as np
import pytest

import s2mlx
from s2mlx import speech_input
from s2mlx.errors import S2Error, UsageError
from tests import goldens

TEXT = "Good morning in the house? It is a fine day. We go out."
FEW = {"max_frames": 4, "min_frames": 4, "seed": 5}


async def slowly(pieces):
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


def written(text):
    writer = s2mlx.SpeechInput()
    for letter in text:
        writer.write(letter)
    writer.close()
    return writer


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize(
    "make", [written, list, tuple, iter, slowly], ids=["letters", "list", "tuple", "iterator", "async"]
)
def test_all_at_once_it_is_the_same_speech(tts, voice, make, long):
    text = TEXT * (12 if long else 1)
    whole = tts.say(text, voice=voice, **FEW)
    same = tts.say(make(text), voice=voice, **FEW)
    np.testing.assert_array_equal(same.codes, whole.codes)
    np.testing.assert_array_equal(same.samples, whole.samples)
    assert [(p.index, p.span) for p in same.passes] == [(p.index, p.span) for p in whole.passes]


def test_a_voice_of_its_own_is_kept_from_the_first_pass_on(tts):
    text = TEXT * 20
    np.testing.assert_array_equal(tts.say(written(text), **FEW).codes, tts.say(text, **FEW).codes)


def test_a_dialogue_remembers_its_turns(tts, voice):
    text = "<|speaker:0|>Who is there? <|speaker:1|>Nobody. <|speaker:0|>Good then."
    given = {"voice": [voice, voice], **FEW}
    np.testing.assert_array_equal(tts.say(written(text), **given).codes, tts.say(text, **given).codes)


def test_the_first_sentence_sounds_while_the_second_is_written(tts, voice):
    writer = s2mlx.SpeechInput()
    chunks = tts.stream(writer, voice=voice, **FEW)
    writer.write("It rains. We stay")
    first = next(chunks)
    assert first.span == (0, 10) and first.text == "It rains." and first.parts == 1
    while first.finish_reason is None:
        first = next(chunks)
    writer.write(" at home.")
    writer.close()
    rest = list(chunks)
    assert rest[0].span == (10, 26) and rest[0].text == "We stay at home." and rest[-1].parts == 2
    with pytest.raises(UsageError, match="spoken already"):
        tts.stream(writer)


def test_others_are_served_while_it_waits_and_no_time_is_spent(tts, voice):
    writer = s2mlx.SpeechInput()
    chunks = tts.stream(writer, voice=voice, cancel=threading.Event(), **FEW)
    assert tts.say("Somebody else.", voice=voice, **FEW).finish_reason == "length"
    used, began = time.process_time(), time.monotonic()
    while time.monotonic() - began < 1.0:
        time.sleep(0.25)
    assert time.process_time() - used < 0.2
    writer.write("Now.")
    writer.close()
    assert list(chunks)[-1].stats.elapsed < 60 and list(chunks) == []


@pytest.mark.parametrize("way", ["event", "close", "let go"])
@pytest.mark.parametrize("words", ["", "It rains. We st", "No end of a sen"], ids=["nothing", "a sentence", "a part"])
def test_it_can_be_stopped_in_every_wait(tts, voice, way, words):
    writer, cancel = s2mlx.SpeechInput(), threading.Event()
    chunks = tts.stream(writer, voice=voice, cancel=cancel, **FEW)
    writer.write(words)
    if "." in words:
        while next(chunks).finish_reason is None:
            pass
    if way == "event":
        cancel.set()
        last = list(chunks)[-1]
        assert last.finish_reason == "cancelled" and last.span[0] == last.span[1] == (10 if "." in words else 0)
    elif way == "close":
        chunks.close()
    else:
        del chunks
    eventually_closed(writer)


def eventually_closed(writer):
    deadline = time.monotonic() + 20
    with pytest.raises(S2Error, match="nobody reads"):
        while time.monotonic() < deadline:
            writer.write("x")
            time.sleep(0.005)


def test_closing_the_model_ends_it(voice):
    with s2mlx.load(goldens.path("tiny-q4_k_m.gguf"), tokenizer=goldens.GOLDEN / "tokenizer.json") as other:
        waiting, queued = s2mlx.SpeechInput(), s2mlx.SpeechInput()
        chunks = other.stream(waiting, voice=voice)
        late = other.stream(queued, voice=voice)
    for reader in (chunks, late):
        with pytest.raises(S2Error, match="closed"):
            list(reader)
    eventually_closed(waiting)
    eventually_closed(queued)


def test_a_writer_waits_while_much_is_unread_and_stops_when_nobody_reads(monkeypatch):
    monkeypatch.setattr(speech_input, "MOST_WAITING", 100)
    writer, ended = s2mlx.SpeechInput(), []

    def write():
        try:
            for _ in range(1000):
                writer.write("word ")
        except S2Error as fault:
            ended.append(str(fault))

    thread = threading.Thread(target=write)
    thread.start()
    while not writer.full:
        time.sleep(0.001)
    assert writer.characters == 100 and len(writer.take().pieces) == 20
    while not writer.full:
        time.sleep(0.001)
    writer.leave()
    thread.join(20)
    assert not thread.is_alive() and "nobody reads" in ended[0] and not writer.full


def test_the_writers_error_comes_after_what_was_complete(tts, voice):
    def failing():
        yield "It rains. We stay at h"
        raise OSError("the line is dead")

    heard = []
    with pytest.raises(OSError, match="the line is dead"):
        for chunk in tts.stream(failing(), voice=voice, **FEW):
            heard.append(chunk)
    assert {chunk.text for chunk in heard} == {"It rains."} and heard[-1].finish_reason == "length"
    assert tts.say("Afterwards.", voice=voice, **FEW).codes.shape[1] == 4


@pytest.mark.parametrize("text", [b"bytes", 7, None, ["one", 2]])
def test_what_is_no_text_is_refused_at_once(tts, text):
    with pytest.raises(UsageError, match="must be a str"):
        tts.stream(text)


def test_a_piece_that_is_no_text_is_the_writers_error(tts, voice):
    with pytest.raises(UsageError, match="must come as str, not int"):
        list(tts.stream(iter(["One. ", 2]), voice=voice, **FEW))


@pytest.mark.parametrize("patience", [-1, "soon", None])
def test_patience_is_a_number_of_seconds(patience):
    with pytest.raises(UsageError, match="patience"):
        s2mlx.SpeechInput(patience=patience)


def test_what_was_closed_does_not_grow():
    with s2mlx.SpeechInput() as writer:
        writer.write("x")
    writer.close()
    for call in (writer.flush, lambda: writer.write("y")):
        with pytest.raises(UsageError, match="closed"):
            call()


def test_a_generator_ends_with_its_request(tts, voice):
    ended = threading.Event()

    def endless():
        try:
            while True:
                yield "A sentence comes. "
        finally:
            ended.set()

    chunks = tts.stream(endless(), voice=voice, **FEW)
    next(chunks)
    chunks.close()
    assert ended.wait(20)


async def test_an_event_loop_hears_it_and_reads_its_own_source(tts, voice):
    more = asyncio.Event()
    ended = asyncio.Event()

    async def source():
        try:
            yield "It rains. We st"
            await more.wait()
            yield "ay."
        finally:
            ended.set()

    spans = []
    async for chunk in tts.astream(source(), voice=voice, **FEW):
        spans.append(chunk.span)
        more.set()
    assert dict.fromkeys(spans) == dict.fromkeys([(0, 10), (10, 18)]) and ended.is_set()
    codes = [chunk.codes async for chunk in tts.astream(TEXT, voice=voice, **FEW)]
    np.testing.assert_array_equal(np.concatenate(codes, axis=1), tts.say(TEXT, voice=voice, **FEW).codes)


async def test_a_cancelled_task_ends_the_request_and_its_source(tts, voice):
    ended = asyncio.Event()

    async def source():
        try:
            yield "It rains. We st"
            await asyncio.Event().wait()
        finally:
            ended.set()

    begun = asyncio.Event()

    async def listen():
        async for _ in tts.astream(source(), voice=voice, **FEW):
            begun.set()

    task = asyncio.create_task(listen())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(20):
        await ended.wait()
        await asyncio.to_thread(tts.say, "Afterwards.", voice=voice, **FEW)


async def test_the_sources_error_comes_to_the_loop(tts, voice):
    async def source():
        yield "It rains. "
        raise OSError("the line is dead")

    with pytest.raises(OSError, match="the line is dead"):
        async for _ in tts.astream(source(), voice=voice, **FEW):
            pass
