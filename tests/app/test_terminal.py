"""The real app in a real terminal (tmux) on real PortAudio, whose loudspeaker is a null sink and whose microphone is
that sink's monitor: type, speak, stop, record, make a voice, quit; nothing is left running."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mlx.core")

from s2mlx.audio import write_audio

from ..audio.loop import loop  # noqa: F401
from ..synthetic import make_model
from .scenes import speech

ROOT = Path(__file__).parents[2]
SIZE = (100, 30)


class Terminal:
    """A tmux server of its own with the app in it."""

    def __init__(self, environment: dict, socket: Path, command: str):
        self.environment, self.socket = environment, socket
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "app", "-x", str(SIZE[0]), "-y", str(SIZE[1]), command)

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=30,
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", "app", *keys)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "app")

    def until(self, *words: str, seconds: float = 60) -> str:
        """Wait until the screen shows one of the words."""
        end = time.monotonic() + seconds
        while not any(word in (shown := self.screen()) for word in words):
            assert time.monotonic() < end, f"{words} did not appear:\n{shown}"
            time.sleep(0.1)
        return shown

    def pids(self) -> list[int]:
        """The pane's process and its children."""
        pane = int(self.tmux("list-panes", "-t", "app", "-F", "#{pane_pid}").split()[0])
        children = Path(f"/proc/{pane}/task/{pane}/children").read_text().split()
        return [pane, *map(int, children)]


@pytest.fixture
def terminal(loop, tmp_path, request):
    """`request.param`: a program whose output is the app's text."""
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    make_model(tmp_path / "model.gguf", context=2048)
    shutil.copy(ROOT / "tests" / "golden" / "tokenizer.json", tmp_path / "tokenizer.json")
    environment = loop.environment | {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
    }
    environment.pop("TMUX", None)
    writer = getattr(request, "param", "")
    pipe, option = (f"({writer}) | ", " -f -") if writer else ("", "")
    # a socket's path may have 107 bytes
    made = Terminal(
        environment,
        loop.folder / "tmux",
        f"{pipe}{sys.executable} -m s2mlx tui -m {tmp_path}/model.gguf{option}; echo $? > {tmp_path}/code; sleep 60",
    )
    server = int(made.tmux("display-message", "-p", "#{pid}"))
    yield made
    made.tmux("kill-server")
    if _is_app(server):  # its socket was gone
        os.kill(server, signal.SIGTERM)


def test_type_speak_stop_record_clone_quit(terminal, loop, tmp_path):
    terminal.until("ready")
    terminal.press("-l", "Hello there. [whi")
    terminal.until("[whispering]")
    terminal.press("Tab")
    terminal.until("Hello there. [whisper]")

    terminal.press("C-s")
    terminal.until(*(f"first {digit}" for digit in range(10)))  # there are figures: sound has been made
    terminal.press("Escape")
    terminal.until("stopped", "ready")

    sound = tmp_path / "sentence.wav"
    write_audio(sound, np.concatenate([speech(7.0, 5)] * 20), 44100)  # the talker does not end before the recording
    terminal.press("C-r")
    terminal.until("Space starts")
    talker = subprocess.Popen(["paplay", "--device=loop", str(sound)], env=loop.environment)
    terminal.press("Space")
    terminal.until("enough to stop")
    terminal.press("Space")
    shown = terminal.until("makes it a voice")  # the take is judged
    talker.terminate()
    talker.wait()
    assert "only zeros" not in shown and any(chr(c) in shown for c in range(0x2801, 0x2900))
    terminal.press("C-s")
    terminal.until("voice me is ready")
    assert (tmp_path / "data" / "s2mlx" / "voices" / "me" / "voice.s2voice").exists()

    terminal.press("C-s")
    terminal.until("speaking", "ready")
    running = terminal.pids()
    begin = time.monotonic()
    terminal.press("C-q")
    while not (tmp_path / "code").exists() or not (tmp_path / "code").read_text().endswith("\n"):
        assert time.monotonic() < begin + 30
        time.sleep(0.02)
    assert (tmp_path / "code").read_text().strip() == "0"
    assert not [pid for pid in running[1:] if _is_app(pid)]
    assert "Hello there. [whisper]" in (tmp_path / "state" / "s2mlx" / "takes" / "0" / "text.json").read_text()


@pytest.mark.parametrize("terminal", ["echo Hello there.; sleep 2; echo It goes on.; sleep 1"], indirect=True)
def test_a_pipe_is_spoken_while_keys_come_from_the_terminal(terminal, tmp_path):
    terminal.until("Hello there.")
    terminal.until(*(f"first {digit}" for digit in range(10)))
    assert "speaks as you type" in terminal.until("It goes on.")
    terminal.press("-l", "Typed.")
    terminal.until("Typed.")
    terminal.press("C-q")
    end = time.monotonic() + 30
    while not (tmp_path / "code").exists() or not (tmp_path / "code").read_text():
        assert time.monotonic() < end, "it did not end"
        time.sleep(0.1)
    assert (tmp_path / "code").read_text() == "0\n"


def _is_app(pid: int) -> bool:
    try:
        return b"s2mlx" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
