"""The entry point: commands that exist, platforms, faults."""

import pytest

from s2mlx.cli import main as entry
from s2mlx.errors import S2Error


@pytest.mark.parametrize(
    "system, machine, words", [("win32", "AMD64", "Windows"), ("darwin", "x86_64", "Apple Silicon")]
)
def test_platforms_that_cannot_work_get_one_line(run, monkeypatch, system, machine, words):
    with pytest.raises(S2Error, match=words):
        entry.check_platform(system, machine)
    monkeypatch.setattr(entry.sys, "platform", system)
    monkeypatch.setattr(entry.os, "uname", lambda: type("Names", (), {"machine": machine}))
    result = run("say", "Hello.")
    assert result.code == 1 and words in result.error and result.err.count("\n") == 1


@pytest.mark.parametrize("system, machine", [("darwin", "arm64"), ("linux", "x86_64"), ("linux", "aarch64")])
def test_platforms_that_work(system, machine):
    entry.check_platform(system, machine)


def test_every_command_listed_exists(run):
    listed = run("--help").out
    for name in entry.COMMANDS:
        assert f"\n  {name} " in listed and run(name, "--help").code == 0


def test_no_command(run):
    result = run()
    assert result.code == 2 and "--help" in result.error
    assert "did you mean 'say'" in run("sya").error
    assert run("--nonsense").code == 2
    assert run("--version").out.startswith("s2mlx ")


def test_running_out_of_memory_is_one_line(run, tts, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(tts, "stream", fail)
    assert "out of memory" in run("say", "One.", "-o", "x.wav").error


def test_a_full_disk_is_one_line(run, tts, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tts, "stream", fail)
    assert run("say", "One.", "-o", "x.wav").error == "error: the disk is full"


def test_tui_hands_its_options_over(run, monkeypatch):
    import s2mlx_app

    given = {}
    monkeypatch.setattr(s2mlx_app, "run", lambda **options: given.update(options) or 0)
    assert run("tui", "Hello", "there.", "-m", "m.gguf", "--tokenizer", "t.json", "-v", "me", "-a", "USB").code == 0
    wanted = {"model": "m.gguf", "tokenizer": "t.json", "voice": "me", "device": "USB", "text": "Hello there."}
    assert given == {**wanted, "file": None}


def test_the_voice_of_the_environment_is_the_app_s_too(run, monkeypatch):
    import s2mlx_app

    opened = []
    monkeypatch.setattr(s2mlx_app, "run", lambda **given: opened.append(given["voice"]) or 0)
    monkeypatch.setenv("S2MLX_VOICE", "anna")
    assert run("tui").code == 0 and opened == ["anna"]
    assert run("tui", "-v", "a", "-v", "b").code == 2


@pytest.mark.parametrize("words", [[], ["say"], ["voice"], ["voice", "add"]])
def test_help_is_a_command_too(run, words):
    asked = run("help", *words)
    assert asked.code == 0 and asked.err == "" and asked.out == run(*words, "--help").out
    assert "no command" in run("help", "nonsense").error
