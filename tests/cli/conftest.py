"""Run the command in this process with streams of our own."""

import io
import json
import sys
from dataclasses import dataclass

import pytest

import s2mlx
import s2mlx.weights.catalog  # it takes `assets_dir` by its name: before a test has that changed
from s2mlx.cli.main import main

from ..fakes import FakeSynthesizer, Loudspeakers
from ..fakes.synthesizer import by_sentence


@dataclass
class Result:
    code: int
    stdout: bytes
    err: str

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one error line."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        return lines[0]


class _Stream(io.TextIOWrapper):
    def __init__(self, data=b"", tty=False):
        super().__init__(io.BytesIO(data), encoding="utf-8", errors="backslashreplace", newline="")
        self._tty = tty

    def isatty(self):
        return self._tty


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    """No variable of the developer's, no folder of theirs, no voice but a test's own."""
    import os

    from s2mlx.files import folders

    for name in list(os.environ):
        if name.startswith("S2MLX_") or name in ("NO_COLOR", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name)
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / name.lower()))
    monkeypatch.setattr(folders, "assets_dir", lambda: None)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("S2MLX_EAR", "off")  # sines have no words
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(monkeypatch):
    """run("say", "Hello.", stdin=..., tty=...) -> Result. stdin None is a keyboard; tty names the terminals among
    "stdout" and "stderr"."""

    def invoke(*argv, stdin=None, tty=()):
        streams = {
            "stdin": _Stream(stdin or b"", tty=stdin is None),
            "stdout": _Stream(tty="stdout" in tty),
            "stderr": _Stream(tty="stderr" in tty),
        }
        with monkeypatch.context() as patch:
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            code = main([str(word) for word in argv])
            for name in ("stdout", "stderr"):
                streams[name].flush()
        return Result(code, streams["stdout"].buffer.getvalue(), streams["stderr"].buffer.getvalue().decode())

    return invoke


@pytest.fixture
def tts(monkeypatch):
    """The synthesizer every command opens; `tts.loaded` has the arguments of each load."""
    fake = FakeSynthesizer(passes=by_sentence)
    fake.loaded = []

    def load(model=None, **options):
        fake.loaded.append({"model": model, **options})
        return fake

    monkeypatch.setattr(s2mlx, "load", load, raising=False)
    return fake


@pytest.fixture
def player(monkeypatch):
    """The loudspeakers that are opened; `player.made` lists them."""
    speakers = Loudspeakers()
    monkeypatch.setattr("s2mlx.audio.Player", speakers)
    monkeypatch.setattr("s2mlx.audio.find_output", lambda query: None)
    return speakers
