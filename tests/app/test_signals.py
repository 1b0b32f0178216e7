"""What was typed survives the signals that end a process, in a real terminal; no engine, no device."""

import os
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from s2mlx_app.state.session import Session

ROOT = Path(__file__).parents[2]


def drawn(terminal: int, until: bytes | None = None) -> bytes:
    """What the app draws up to a word, or to its end."""
    shown, end = b"", time.monotonic() + 60
    while until is None or until not in shown:
        assert time.monotonic() < end, shown[-2000:]
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # Linux says so when nobody has the other side open
                data = b""
            if not data:
                assert until is None, shown[-2000:]
                break
            shown += data
    return shown


def started(inside: int, environment: dict[str, str], folder) -> subprocess.Popen:
    """The app on the inside of a terminal, which is then its own. It heeds a hang-up also where the tests do not, as
    under nohup."""
    app = subprocess.Popen(
        [sys.executable, "-m", "s2mlx", "tui", "-m", "none.gguf"],
        env=environment,
        stdin=inside,
        stdout=inside,
        stderr=inside,
        cwd=folder,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    os.close(inside)
    return app


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_text_is_kept_whatever_ends_the_process(tmp_path, sent):
    terminal, inside = os.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    environment = (
        os.environ
        | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        | {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    )
    app = started(inside, environment, tmp_path)
    try:
        drawn(terminal, until=b"none.gguf")
        os.write(terminal, "typed just now €".encode())
        drawn(terminal, until="€".encode())
        app.send_signal(sent)
        drawn(terminal)  # a process waits to have drawn all before it ends
        assert app.wait(60) == 130
    finally:
        app.kill()
        app.wait()
        os.close(terminal)
    assert Session(tmp_path / "STATE" / "s2mlx").text() == "typed just now €"


def test_a_terminal_that_goes_leaves_no_traceback(tmp_path):
    """Nobody sends a signal: it is no terminal of the process's own session."""
    terminal, inside = os.openpty()
    homes = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    app = started(inside, os.environ | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)} | homes, tmp_path)
    try:
        drawn(terminal, until=b"none.gguf")
        os.close(terminal)
        assert app.wait(60) == 130
    finally:
        app.kill()
        app.wait()
    log = tmp_path / "STATE" / "s2mlx" / "app.log"
    assert not log.exists() or "Traceback" not in log.read_text()


def test_bytes_that_are_no_text_are_refused(tmp_path):
    terminal, inside = os.openpty()
    ran = subprocess.run(
        [sys.executable, "-m", "s2mlx", "tui", b"\xff"],
        stdin=inside,
        stdout=inside,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        timeout=60,
    )
    os.close(inside)
    os.close(terminal)
    assert ran.returncode == 2 and b"not valid UTF-8" in ran.stderr
