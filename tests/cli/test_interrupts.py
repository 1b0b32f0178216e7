"""Signals: the first one interrupts, its echoes do not count, a later one ends the process, and files are finished."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from s2mlx.audio import read_audio
from s2mlx.cli import interrupts, outputs, paths
from s2mlx.cli.interrupts import as_keyboard_interrupt, uninterrupted

ROOT = Path(__file__).parents[2]


class Ended(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def clock(monkeypatch):
    """clock.now is the time; ending the process raises Ended."""

    class Clock:
        now = 100.0

    def end(code):
        assert code == 130
        raise Ended

    monkeypatch.setattr(interrupts.time, "monotonic", lambda: Clock.now)
    monkeypatch.setattr(interrupts.os, "_exit", end)
    return Clock


def send(number=signal.SIGINT):
    signal.raise_signal(number)


def test_signals_of_one_wish_count_once(clock):
    with pytest.raises(Ended), as_keyboard_interrupt():
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGTERM)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            send(number)
        clock.now += 0.9
        send()
        clock.now += 0.2
        send()


def test_a_program_that_repeats_itself_does_not_cut_the_end_short(clock):
    """`mlx.launch` sends SIGTERM every second while this one still keeps what was finished."""
    kept = False
    with pytest.raises(Ended), as_keyboard_interrupt():
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGTERM)
        for _ in range(18):
            clock.now += 1
            send(signal.SIGTERM)
        with uninterrupted():  # where a signal waits
            clock.now += 1
            send(signal.SIGTERM)
        kept = True
        clock.now += 1
        send(signal.SIGTERM)
    assert kept


def test_a_hand_that_waits_behind_a_program_is_not_kept_waiting(clock):
    with pytest.raises(Ended), as_keyboard_interrupt():
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGTERM)
        with uninterrupted():
            clock.now += 2
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
                send(number)


def test_every_command_line_starts_anew(clock):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), as_keyboard_interrupt():
            send()
        clock.now += 5


def test_an_interrupt_that_a_library_turned_into_an_error_is_one(run, tts, monkeypatch):
    def stream(*_, **__):
        try:
            send()
        except KeyboardInterrupt:
            raise ImportError("IMPORTANT: PLEASE READ THIS") from None

    monkeypatch.setattr(tts, "stream", stream)
    result = run("say", "One.", "-o", "out.wav")
    assert (result.code, result.err) == (130, "")
    monkeypatch.setattr(tts, "stream", lambda *_, **__: [].pop())
    assert run("say", "One.", "-o", "out.wav").code == 1  # the next command's faults are its own


def test_signals_wait_for_a_file_that_is_put_in_place(clock):
    done = []
    with as_keyboard_interrupt():
        with pytest.raises(KeyboardInterrupt), uninterrupted():
            with uninterrupted():
                send()
                send()
            done.append("first")
        clock.now += 5
        with pytest.raises(Ended), uninterrupted():
            send()
            done.append("second")
    assert done == ["first", "second"]


def test_a_fault_meanwhile_is_told_rather_than_the_interrupt(clock):
    with pytest.raises(OSError), as_keyboard_interrupt(), uninterrupted():
        send()
        raise OSError


@pytest.mark.parametrize("ending", ["wav", "flac", "raw", "npy"])
def test_a_file_is_finished_although_signals_come(clock, tmp_path, monkeypatch, ending):
    """The first one while the file gets its name, and one long after it."""
    path, replace, samples = tmp_path / f"a.{ending}", os.replace, np.full(4096, 0.25, np.float32)
    codes = np.ones((10, 2), np.int32)

    def interrupted(*names):
        send()
        clock.now += 5
        send()
        replace(*names)
        send()

    monkeypatch.setattr(os, "replace", interrupted)
    output = outputs.CodesFile(str(path)) if ending == "npy" else outputs.open_audio(str(path), 44100, ending == "raw")
    output.write(samples, codes, True)
    with pytest.raises(KeyboardInterrupt), as_keyboard_interrupt():
        output.finish()
    assert os.listdir(tmp_path) == [path.name]
    if ending == "npy":
        assert np.array_equal(np.load(path), codes)
    else:
        assert path.stat().st_size == 8192 if ending == "raw" else len(read_audio(path, 44100)) == 4096


def test_a_pipe_may_be_interrupted(clock, tmp_path, monkeypatch):
    """Nobody may ever read it."""
    monkeypatch.setattr(paths, "open", lambda *_: send(), raising=False)
    with pytest.raises(KeyboardInterrupt), as_keyboard_interrupt():
        paths.write_whole("/dev/null", b"data")


INTERRUPTED_IMPORT = """
import signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from s2mlx.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["s2mlx.cli.main", "s2mlx.errors", "argparse", "s2mlx.cli.terminal"])
def test_an_interrupt_while_importing_is_quiet(module):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT, module], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_script_is_that_entry_point():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"s2mlx": "s2mlx.__main__:main"}


def test_an_interrupt_at_the_very_end_is_quiet():
    """Whatever the interpreter still does after the command, such as waiting for threads."""
    script = (
        "import atexit, os, signal, sys; atexit.register(signal.raise_signal, signal.SIGINT);"
        "sys.argv[1:] = ['--version']; from s2mlx.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == -signal.SIGINT and done.stderr == ""
