"""`s2mlx record` with a fake microphone: what it asks, what it refuses, what it saves."""

import shlex
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from s2mlx.errors import DeviceError, GenerationError, VoiceError
from s2mlx.text.read_aloud import sentences_to_read
from s2mlx.voices import VoiceLibrary

from ..fakes import Microphones

RATE = 44100


def speech(seconds, level=0.3):
    """Noise that comes and goes like syllables."""
    n = int(seconds * RATE)
    envelope = np.clip(np.sin(2 * np.pi * 3 * np.arange(n) / RATE), 0, 1)
    return (np.random.default_rng(0).uniform(-1, 1, n) * envelope * level).astype(np.float32)


@pytest.fixture
def mic(monkeypatch):
    from s2mlx.cli import record

    monkeypatch.setenv("LC_ALL", "C")
    microphones = Microphones(speech(8))
    monkeypatch.setattr("s2mlx.audio.Recorder", microphones)
    monkeypatch.setattr("s2mlx.audio.find_input", lambda query: None)
    monkeypatch.setattr(record.time, "sleep", lambda _: None)
    monkeypatch.setattr(record, "_enter", lambda wait, listen: False)
    return microphones


def test_a_take_becomes_a_voice_with_clip_and_words(run, tts, mic):
    result = run("record", "me", "--seconds", "8", stdin=b"")
    assert result.code == 0 and result.stdout == b"" and "Read this aloud" in result.err
    library = VoiceLibrary()
    assert library.get("me").transcript in sentences_to_read("en") and library.get("me").transcript in result.err
    (samples, rate), words, _ = tts.cloned[0]
    assert words == library.get("me").transcript and 7.5 < len(samples) / rate < 8.5
    kept, rate = library.clip("me")
    assert rate == RATE and np.array_equal(kept, samples)


def test_own_words_language_and_device(run, tts, mic):
    assert run("record", "a", "--seconds", "8", "--text", "Own words.", "--input", "USB", stdin=b"").code == 0
    assert VoiceLibrary().get("a").transcript == "Own words." and mic.made[0].device == "USB"
    assert run("record", "b", "--seconds", "8", "--language", "de", stdin=b"").code == 0
    assert VoiceLibrary().get("b").transcript in sentences_to_read("de")


def test_a_model_that_follows_a_few_seconds_gets_a_short_sentence(run, tts, mic):
    tts.config = replace(tts.config, reference_seconds=6.0)
    result = run("record", "a", "--seconds", "8", stdin=b"")
    assert result.code == 0 and "follows about 6 seconds of a voice" in result.err
    assert VoiceLibrary().get("a").transcript in sentences_to_read("en", 6.0)


def test_words_that_do_not_fill_the_take_are_doubted(run, tts, mic):
    assert "warning" not in run("record", "a", "--seconds", "8", stdin=b"").err
    result = run("record", "b", "--seconds", "8", "--text", "Own words.", tty=("stderr",))
    assert result.code == 0 and "too long for its words" in result.err and "Record again?" in result.err


def test_at_a_terminal_enter_ends_it(run, tts, mic, monkeypatch):
    from s2mlx.cli import record

    monkeypatch.setattr(record, "_enter", lambda wait, listen: listen)
    shown = run("record", "me", tty=("stderr",)).err
    for words in ("get ready: 3", "recording, ", "of 30 s", "[####", "Enter ends it"):
        assert words in shown


@pytest.mark.parametrize(
    "argv, words",
    [
        (["me"], "--seconds"),
        (["me", "--seconds", "0"], "between"),
        (["me", "--seconds", "nan"], "between"),
        (["me", "--seconds", "99"], "between"),
        (["me", "--seconds", "8", "--text", " "], "empty"),
        (["me", "--seconds", "8", "--language", "tlh"], "language"),
        (["../me", "--seconds", "8"], "cannot be the name"),
    ],
)
def test_wrong_calls_end_before_anything_opens(run, tts, mic, argv, words):
    result = run("record", *argv, stdin=b"")
    assert result.code in (1, 2) and words in result.error and not tts.loaded and not mic.made


@pytest.mark.parametrize(
    "heard, words",
    [(np.zeros(8 * RATE, np.float32), "only zeros"), (speech(1), "too short"), (speech(8, 0.001), "hardly anything")],
)
def test_a_useless_take_makes_no_voice(run, tts, mic, heard, words):
    mic.sound = heard
    result = run("record", "me", "--seconds", "8", stdin=b"")
    assert result.code == 1 and words in result.error and VoiceLibrary().names() == [] and not tts.cloned


def test_a_doubtful_take_is_asked_about(run, tts, mic):
    mic.sound = np.clip(speech(8, 30), -1, 1)
    result = run("record", "me", "--seconds", "8", tty=("stderr",))  # the keyboard gives end of input: no
    assert result.code == 0 and "clipped" in result.err and "Record again? [Y/n]" in result.err and len(mic.made) == 1
    again = iter([True, False])
    from s2mlx.cli.terminal import Console

    ask = Console.ask
    try:
        Console.ask = lambda self, question, default=False: next(again)
        assert run("record", "you", "--seconds", "8", tty=("stderr",)).code == 0 and len(mic.made) == 3
    finally:
        Console.ask = ask


def test_overwriting_asks_or_is_forced(run, tts, mic, monkeypatch):
    from s2mlx.cli.terminal import Console

    take = ["record", "me", "--seconds", "8", "--text"]
    assert run(*take, "First.", stdin=b"").code == 0
    refused = run(*take, "Second.", stdin=b"")
    assert refused.code == 1 and "--force" in refused.error and len(mic.made) == 1
    assert run(*take, "Second.", tty=("stderr",)).code == 1  # end of input counts as no
    monkeypatch.setattr(Console, "ask", lambda self, question, default=False: "Replace" in question)
    assert run(*take, "Third.", tty=("stderr",)).code == 0
    assert run(*take, "Fourth.", "--force", stdin=b"").code == 0
    assert VoiceLibrary().get("me").transcript == "Fourth."


def test_a_microphone_that_does_not_open(run, tts, mic):
    mic.sound, mic.error = np.zeros(0, np.float32), DeviceError("the microphone has gone")
    result = run("record", "me", "--seconds", "8", stdin=b"")
    assert result.code == 1 and result.error == "error: the microphone has gone" and VoiceLibrary().names() == []


def test_an_interrupt_saves_nothing(run, tts, mic, monkeypatch):
    from s2mlx.cli import record

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(record, "_enter", interrupt)
    assert run("record", "me", "--seconds", "8", stdin=b"").code == 130 and VoiceLibrary().names() == []


# --- the recording outlives what fails after it ---------------------------------------------------------------------


def kept_files(tmp_path):
    return sorted((tmp_path / "home" / "state" / "s2mlx" / "autosave").glob("*"))


def fail(error):
    def call(*_, **__):
        raise error

    return call


@pytest.mark.parametrize(
    "place, error, code",
    [
        ("clone", GenerationError("no room"), 1),
        ("clone", KeyboardInterrupt(), 130),
        ("add", VoiceError("disk full"), 1),
        ("add", OSError(28, "No space left"), 1),
    ],
)
def test_what_fails_after_the_take_leaves_it_and_the_way_on(run, tts, mic, monkeypatch, tmp_path, place, error, code):
    with monkeypatch.context() as patch:
        patch.setattr(*(tts, "clone") if place == "clone" else (VoiceLibrary, "add"), fail(error))
        result = run(
            "record", "o'neil", "--seconds", "8", "--text", "It's  me,\nthen.", "--quiet", "-m", "a b.gguf", stdin=b""
        )
    assert result.code == code and VoiceLibrary().names() == []
    [path] = kept_files(tmp_path)
    assert 7.5 < soundfile.info(path).duration < 8.5
    words = shlex.split(result.err.split("make the voice from it with: ")[1].splitlines()[0])
    assert words == [
        "s2mlx",
        "voice",
        "add",
        "o'neil",
        "--clip",
        str(path),
        "--text",
        "It's me, then.",
        "--model",
        "a b.gguf",
    ]
    assert run(*words[1:]).code == 0 and VoiceLibrary().get("o'neil").transcript == "It's me, then."
    assert tts.loaded[-1]["model"] == "a b.gguf"


def test_the_command_replaces_what_the_recording_would_have_replaced(run, tts, mic, monkeypatch):
    assert run("record", "me", "--seconds", "8", stdin=b"").code == 0
    monkeypatch.setattr(tts, "clone", fail(GenerationError("no room")))
    result = run("record", "me", "--seconds", "8", "--force", "--text", "-- Read!", stdin=b"")
    assert "'--text=-- Read!' --force" in result.err


def test_a_saved_voice_leaves_nothing_in_the_autosave_folder(run, tts, mic, tmp_path):
    assert run("record", "me", "--seconds", "8", stdin=b"").code == 0 and kept_files(tmp_path) == []


def test_an_interrupt_at_the_question_keeps_the_take(run, tts, mic, monkeypatch, tmp_path):
    from s2mlx.cli.terminal import Console

    mic.sound = np.clip(speech(8, 30), -1, 1)
    answers = iter([True, KeyboardInterrupt])

    def ask(self, question, default=False):
        answer = next(answers)
        if answer is True:
            return True
        raise answer

    monkeypatch.setattr(Console, "ask", ask)
    result = run("record", "me", "--seconds", "8", tty=("stderr",))
    assert result.code == 130 and len(mic.made) == 2 and len(kept_files(tmp_path)) == 1
    assert str(kept_files(tmp_path)[0]) in result.err


def test_an_autosave_folder_that_cannot_be_written_is_said_and_no_obstacle(run, tts, mic, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "state").write_text("in the way")
    result = run("record", "me", "--seconds", "8", stdin=b"")
    assert result.code == 0 and "not on disk" in result.err and VoiceLibrary().names() == ["me"]
