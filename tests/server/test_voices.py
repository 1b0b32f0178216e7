"""Whose voice speaks: saved ones, the default, stand-ins for OpenAI's, and voices of other models made again."""

import asyncio
import threading

import numpy as np
import pytest

from s2mlx.audio import write_audio
from s2mlx.cli.serve import _default_voice
from s2mlx.errors import GenerationError, VoiceError
from s2mlx.files import folders
from s2mlx.results import LENGTH, STOP
from s2mlx.server.service import Service
from s2mlx.server.speech_request import SpeechRequest
from s2mlx.voices import Voice

from ..fakes import BOOKS, RATE
from .test_speech import HELLO

FOREIGN = np.ones((3, 3), np.int32)  # codes of a model with three codebooks
CLIP = np.full(RATE, 0.1, np.float32), RATE


def test_voices(tts, client, library):
    assert client.ask("/v1/audio/voices").json == {"voices": [{"id": "anna", "name": "anna"}]}
    assert client.post({**HELLO, "voice": " Anna "}).answer().status == 200
    answer = client.post({**HELLO, "voice": "bert"}).answer()
    assert answer.status == 400 and "anna" in answer.error and answer.json["error"]["param"] == "voice"
    library.add("Bert", Voice(np.ones((BOOKS, 3), np.int32), "Bert's words."))
    assert client.post({**HELLO, "voice": "bert"}).answer().status == 200


@pytest.mark.parametrize("name", ["../anna", "/etc/passwd", "anna.s2voice", ".", "~/x.s2voice", "x" * 9999])
def test_a_voice_is_a_name_and_never_a_path(client, name):
    assert client.post({**HELLO, "voice": name}).answer().status == 400


def test_openai_voices_are_the_default_one(tts, start, connect):
    default = Voice(np.full((BOOKS, 3), 2, np.int32), "Default.")
    server = start(voice=default)
    client = connect(server)
    for voice in ("alloy", "alloy", None):
        assert client.post({**HELLO, "voice": voice}).answer().status == 200
    assert all(call.voice == default for call in tts.calls) and not tts.said
    assert sum("no saved voice alloy" in line for line in server.log_lines) == 1


def test_openai_voices_without_a_default_are_built_in_ones(tts, client, monkeypatch, tmp_path):
    (tmp_path / "nano").mkdir()
    for name, books in (("clara", BOOKS), ("bruno", BOOKS), ("other", 3)):
        Voice(np.ones((books, 3), np.int32), name).save(tmp_path / "nano" / f"{name}.s2voice")
    monkeypatch.setattr(folders, "assets_dir", lambda: tmp_path)
    for voice in ("alloy", None, "ash", "ballad"):
        assert client.post({**HELLO, "voice": voice}).answer().status == 200
    assert [call.voice.name for call in tts.calls] == ["bruno", "bruno", "clara", "bruno"] and not tts.said


def test_openai_voices_without_a_default_are_made_up_once(tts, client, library):
    for voice in ("alloy", None, "Echo", "alloy"):
        assert client.post({**HELLO, "voice": voice}).answer().status == 200
    alloy, none, echo, again = (call.voice for call in tts.calls)
    assert alloy == none == again and alloy.name == "alloy" and echo.name == "echo"
    assert len(set(tts.said)) == len(tts.said) == 2
    library.add("alloy", Voice(np.full((BOOKS, 3), 3, np.int32), "My alloy."))
    client.post({**HELLO, "voice": "alloy"}).answer()
    assert tts.calls[-1].voice.transcript == "My alloy."


ENDED_EARLY = GenerationError("the model ended the speech before its first frame")


@pytest.mark.parametrize(
    "sayings, tries, kept",
    [
        ([ENDED_EARLY, (1, STOP)], 2, 2),
        ([(1, LENGTH), (0.1, STOP), (1.9, STOP)], 3, 3),
        ([(0.6, STOP)], 1, 1),
        ([(2.8, STOP), (0.4, STOP), ENDED_EARLY], 3, 2),
        ([(2.1, STOP), (3, LENGTH), (2.5, STOP)], 3, 1),
    ],
)
def test_the_best_of_three_voices_is_kept(tts, client, sayings, tries, kept):
    tts.sayings = sayings
    for _ in range(2):
        assert client.post({**HELLO, "voice": "alloy"}).answer().status == 200
    assert len(tts.said) == tries and [call.voice.codes[0, 0] for call in tts.calls] == [kept, kept]


@pytest.mark.parametrize("saying", [ENDED_EARLY, (1, LENGTH), (0.2, STOP)])
def test_a_bad_voice_is_not_kept(tts, client, saying):
    tts.sayings = [saying]
    answer = client.post({**HELLO, "voice": "alloy"}).answer()
    assert answer.status == 500 and "usable voice" in answer.error and len(tts.said) == 3
    tts.sayings = [(1, STOP)]
    assert client.post({**HELLO, "voice": "alloy"}).answer().status == 200


def test_a_voice_is_not_tried_again_without_memory(tts, client):
    fault = GenerationError("out of memory")
    fault.__cause__ = MemoryError()
    tts.sayings = [fault]
    assert client.post({**HELLO, "voice": "alloy"}).answer().status == 500 and len(tts.said) == 1


async def test_who_leaves_while_another_has_a_voice_made_does_not_wait(tts, library, monkeypatch):
    begun, ready = threading.Event(), threading.Event()
    library.add("kept", Voice(FOREIGN, "Words."), clip=CLIP)
    clone = tts.clone

    def slowly(*arguments, **keywords):
        begun.set()
        assert ready.wait(10)
        return clone(*arguments, **keywords)

    monkeypatch.setattr(tts, "clone", slowly)
    service = Service(tts, "fake", library=library)
    first, second = (asyncio.create_task(service.speak(SpeechRequest("Hello.", voice="kept"))) for _ in range(2))
    assert await asyncio.to_thread(begun.wait, 10)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert not first.done()
    ready.set()
    (await first).close()
    assert [made.name for made in tts.cloned] == ["kept"]


async def test_who_leaves_while_its_voice_is_made_ends_the_making(tts, library, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def cancelled(*_, cancel, **__):
        begun.set()
        assert cancel.wait(10)
        ended.set()
        raise GenerationError("cancelled")

    library.add("kept", Voice(FOREIGN, "Words."), clip=CLIP)
    monkeypatch.setattr(tts, "clone", cancelled)
    request = asyncio.create_task(Service(tts, "fake", library=library).speak(SpeechRequest("Hello.", voice="kept")))
    assert await asyncio.to_thread(begun.wait, 10)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert await asyncio.to_thread(ended.wait, 10)


def test_a_voice_of_another_model_is_made_again_from_its_clip(tts, client, library):
    other = Voice(FOREIGN, "Words.")
    library.add("bare", other)
    assert "bare" not in str(client.ask("/v1/audio/voices").json)
    assert client.post({**HELLO, "voice": "bare"}).answer().json["error"]["param"] == "voice"
    library.add("kept", other, clip=CLIP)
    for _ in range(2):
        assert client.post({**HELLO, "voice": "kept"}).answer().status == 200
    assert [made.name for made in tts.cloned] == ["kept"]


def test_a_default_voice_of_another_model_is_made_again_from_its_clip(tts, library, start, connect):
    library.add("kept", Voice(FOREIGN, "Words."), clip=CLIP)
    voice, clip = _default_voice(library, "kept")
    client = connect(start(voice=voice, clip=clip))
    assert client.post({**HELLO, "voice": "alloy"}).answer().status == 200
    assert (
        [made.name for made in tts.cloned] == ["kept"]
        and tts.calls[0].voice.transcript == "Words."
        and len(tts.cloned[0].clip[0]) == RATE
    )


def test_a_default_voice_of_another_model_without_a_clip_is_an_error(tts, library):
    library.add("bare", Voice(FOREIGN, "Words."))
    with pytest.raises(VoiceError, match="another model"):
        Service(tts, "fake", library=library, voice=library.get("bare"))


def test_a_voice_given_by_a_path_never_takes_the_clip_of_a_namesake(tts, library, tmp_path):
    library.add("kept", Voice(FOREIGN, "Words."), clip=CLIP)
    path = tmp_path / "kept.s2voice"
    Voice(FOREIGN, "Words of another.").save(path)
    voice, clip = _default_voice(library, str(path))
    with pytest.raises(VoiceError, match="kept.flac"):
        Service(tts, "fake", library=library, voice=voice, clip=clip)
    write_audio(tmp_path / "kept.flac", *CLIP)
    Service(tts, "fake", library=library, voice=voice, clip=clip)
    assert [made.clip for made in tts.cloned] == [tmp_path / "kept.flac"]


def test_the_librarys_own_voice_may_be_given_by_its_path(tts, library):
    library.add("kept", Voice(FOREIGN, "Words."), clip=CLIP)
    voice, clip = _default_voice(library, str(library.info("kept").path))
    Service(tts, "fake", library=library, voice=voice, clip=clip)
    assert [made.clip for made in tts.cloned] == [library.folder / "kept" / "clip.flac"]


def test_a_name_has_no_clip_beside_it(library, tmp_path, monkeypatch):
    """What lies in the folder where the server was started is another's recording."""
    monkeypatch.chdir(tmp_path)
    write_audio(tmp_path / "anna.flac", *CLIP)
    assert _default_voice(library, "anna") == (library.get("anna"), None)
    assert _default_voice(library, None) == (None, None)
