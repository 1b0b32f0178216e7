"""What people read: foreign words in it are seen, never obeyed."""

from __future__ import annotations

import io
import sys

import pytest

from s2mlx.cli.terminal import Console, on_stdout, table
from s2mlx.errors import S2Error

EVIL = "\x1b[2J\x1b]52;c;aGk=\x07\x9b31m\u202egpj"
CONTROLS = set("\x1b\x07\x9b\u202e")


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    screen = Screen()
    monkeypatch.setenv("NO_COLOR", "1")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", screen)
        screen.console = Console()
    return screen


@pytest.mark.parametrize("way", ["note", "warn", "error", "line", "progress", "summary", "ask"])
def test_every_way_to_the_terminal_shows_signs(screen, monkeypatch, way):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    getattr(screen.console, way)(f"a{EVIL}b")
    assert not CONTROLS & set(screen.getvalue()) and "␛[2J" in screen.getvalue()


def test_a_traceback_too(screen):
    try:
        raise S2Error(EVIL)
    except S2Error as fault:
        screen.console.traceback(fault)
    lines = screen.getvalue().splitlines()
    assert lines[0] == "Traceback (most recent call last):" and not CONTROLS & set(screen.getvalue())


def test_debug_of_the_command_is_safe(run, tts, monkeypatch):
    def fail(*_, **__):
        raise S2Error(EVIL)

    monkeypatch.setattr(tts, "stream", fail)
    result = run("say", "One.", "-o", "x.wav", "--debug")
    assert "Traceback" in result.err and "error: ␛[2J" in result.err and not CONTROLS & set(result.err)


def test_names_on_stdout(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert on_stdout(EVIL) == EVIL
    monkeypatch.setattr(sys, "stdout", Screen())
    assert not CONTROLS & set(on_stdout(EVIL))
    assert not CONTROLS & set(table([["name"], [EVIL]]))


def test_who_cannot_be_written_to_is_not(monkeypatch):
    class Full(Screen):
        def write(self, text):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    Console().error("lost")
