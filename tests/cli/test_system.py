"""What the system refuses: each gives its one true line. As processes, for limits and locales are a process's."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

from s2mlx.files import npy_bytes
from tests.voices.making import voice

from .test_process import ROOT

LIMIT = "larger than the limit of this shell (ulimit -f)"


def run(*argv, fake=None, limit=None, stdout=subprocess.PIPE, **environment):
    def prepare():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    module = "s2mlx" if fake is None else "tests.cli.fake_command"
    base = {**os.environ, "PYTHONPATH": str(ROOT), **({"FAKE": fake} if fake is not None else {})}
    return subprocess.run(
        [sys.executable, "-m", module, *map(os.fsencode, argv)],
        env={key: value for key, value in (base | environment).items() if value is not None},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,
        timeout=60,
    )


def error(done) -> str:
    """The only line."""
    (line,) = done.stderr.decode().splitlines()
    assert done.returncode == 1 and line.startswith("error: "), line
    return line


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("unbuffered", [None, "1"])
@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["say", "--help"], ["voice", "list"], ["config"]])
def test_a_full_stdout(argv, unbuffered):
    with open("/dev/full", "wb") as full:
        done = run(*argv, stdout=full, PYTHONUNBUFFERED=unbuffered)
    assert error(done) == "error: cannot write to stdout: the disk is full"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_stdout_for_sound():
    with open("/dev/full", "wb") as full:
        assert error(run("say", "One.", "-o", "-", fake="{}", stdout=full)).endswith("stdout: the disk is full")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_stderr():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "s2mlx", "nonsense"], stderr=full, cwd=ROOT, timeout=60)
    assert done.returncode == 2


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.mp3", "a.ogg", "a.raw"])
def test_the_limit_of_the_shell(tmp_path, name):
    raw = ["--raw"] if name == "a.raw" else []
    done = run("say", "One.", "-o", str(tmp_path / name), *raw, fake="{}", limit=1000)
    assert LIMIT in error(done) and f"cannot write {tmp_path / name}" in error(done)
    assert os.listdir(tmp_path) == []


def test_the_limit_of_the_shell_and_voices(tmp_path):
    voice(frames=500).save(tmp_path / "big.s2voice")
    done = run("voice", "import", str(tmp_path / "big.s2voice"), limit=1000, XDG_DATA_HOME=str(tmp_path))
    folder = tmp_path / "s2mlx" / "voices"
    assert error(done).startswith(f"error: cannot save voice 'big' in {folder}: ") and LIMIT in error(done)
    assert not [path for path in folder.iterdir() if path.name.startswith(".new")]


@pytest.mark.parametrize("home", ["/dev/null", "/none/at/all"])
def test_a_home_that_cannot_be(tmp_path, home):
    place = dict.fromkeys(("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), None) | {"HOME": home}
    listed = run("voice", "list", **place)
    assert listed.returncode == 0 and listed.stderr == b""
    voice().save(tmp_path / "v.s2voice")
    if home == "/dev/null":
        assert "cannot save voice 'v' in /dev/null/" in error(
            run("voice", "import", str(tmp_path / "v.s2voice"), **place)
        )
        assert error(run("config", "rate", "1.5", **place)).startswith("error: cannot write /dev/null/")
    assert run("voice", "restore", **place).stderr == b"note: no voice was removed in the last 30 days\n"


def test_utf8_in_an_ascii_locale(tmp_path):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("say", "Grüße, 你好.", "-o", str(tmp_path / "grüße.wav"), "--json", fake="{}", **ascii_only)
    assert done.returncode == 0 and f'"text_characters": {len("Grüße, 你好.")}' in done.stdout.decode()
    assert (tmp_path / "grüße.wav").exists()
    wrong = run("say", "Gr\udcffe", "-o", str(tmp_path / "a.wav"), fake="{}", **ascii_only)
    assert wrong.returncode == 2 and wrong.stderr == b"error: the text is not valid UTF-8\n"


def test_codes_from_a_pipe_are_refused_under_a_name(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = run("decode", str(tmp_path / "pipe"), "-o", str(tmp_path / "a.wav"))
    assert error(done) == f"error: cannot read {tmp_path / 'pipe'}: it is a pipe or a device, not a file"
    (tmp_path / "a.npy").write_bytes(npy_bytes(np.zeros((10, 0), np.int32)))
    assert error(run("decode", str(tmp_path / "a.npy"), "-o", str(tmp_path / "a.wav"))).endswith("holds no frames")
