"""The long way through the real app, by hand, some minutes: `python -m tests.app.long_flow [sentences]` (200).

In tmux, on a sound loop, with the bundled model and folders of its own: two takes are recorded, the better one becomes
a voice, which speaks a long text in parts; one part is said anew, the whole is exported. After each of these steps the
app is killed and started again. Prints what it has seen; the first thing that is lost ends it with the screen.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from s2mlx.audio import read_audio, write_audio

from ..audio.loop import Loop, missing, start
from .scenes import speech
from .test_terminal import Terminal

PATIENCE = 900.0  # seconds for the slowest step
COLOURS = ("red", "green", "blue", "white", "black", "brown", "grey", "pink")
THINGS = ("boat", "door", "lamp", "coat", "fish", "bird", "tree")


class LongFlow:
    """The app in `folder`, killed and started as often as needed."""

    def __init__(self, loop: Loop, folder: Path, text: str):
        self.loop, self.folder, self.text = loop, folder, text
        self.environment = loop.environment | {
            "XDG_CONFIG_HOME": f"{folder}/config",
            "XDG_DATA_HOME": f"{folder}/data",
            "XDG_STATE_HOME": f"{folder}/state",
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        self.environment.pop("TMUX", None)
        (folder / "text.txt").write_text(text)
        self.app: Terminal | None = None
        self.starts = 0
        self.begin = time.monotonic()

    def told(self, line: str) -> None:
        print(f"{time.monotonic() - self.begin:6.1f} s  {line}", flush=True)

    def start(self, options: str = "") -> Terminal:
        self.starts += 1
        socket = self.loop.folder / f"tmux{self.starts}"  # a socket's path may have 107 bytes
        self.app = Terminal(self.environment, socket, f"{sys.executable} -m s2mlx tui {options}")
        return self.app

    def kill(self, what: str) -> None:
        """As a crash would."""
        assert self.app is not None
        os.kill(self.app.pids()[0], signal.SIGKILL)  # tmux starts a single command without a shell
        end = time.monotonic() + 10
        while self.app.screen().strip() and time.monotonic() < end:
            time.sleep(0.05)
        self.app.tmux("kill-server")
        self.told(f"killed {what}")

    def record(self, seed: int, key: str) -> None:
        """`key` begins it."""
        app = self.app
        assert app is not None
        sound = self.folder / f"talk{seed}.wav"
        write_audio(sound, np.concatenate([speech(7.0, seed)] * 20), 44100)
        talker = subprocess.Popen(["paplay", "--device=loop", str(sound)], env=self.environment)
        try:
            app.press(key)
            app.until("enough to stop")
            app.press("Space")
            app.until("makes it a voice")
        finally:
            talker.terminate()
            talker.wait()

    def again(self) -> Terminal:
        """Started again; the take that became no voice is for later."""
        app = self.start()
        app.until("ready")
        app.until("not made a voice")
        app.press("Escape")
        while "not made a voice" in app.screen():
            time.sleep(0.1)
        return app

    # the steps

    def takes(self) -> None:
        app = self.start(f"-f {self.folder}/text.txt")
        app.until("ready")
        app.press("C-r")
        app.until("Space starts")
        self.record(5, "Space")
        self.kill("with the first take")
        app = self.start()
        app.until("was not made a voice yet")
        app.press("Enter")
        app.until("makes it a voice")
        self.record(7, "C-r")
        app.press("b")
        app.until("is the best")
        self.kill("with two takes, one of them the best")
        app = self.start()
        app.until("2 recordings were not made voices yet")
        app.press("Enter")
        app.until("2 of 2")
        app.press("C-s")
        app.until("voice me is ready")
        self.told("two takes, one of them a voice")

    def parts(self) -> None:
        app = self.app
        assert app is not None
        app.press("F6")
        count = self.count(app.until(" parts ·"))[1]
        assert count > 1
        app.press("m")
        while self.count(app.screen())[0] < max(1, count // 3):
            time.sleep(0.2)
        before = self.count(app.screen())[0]
        self.kill(f"with {before} of {count} parts")
        app = self.again()
        app.press("F6")
        app.until(" parts ·")
        there = self.count(app.screen())[0]
        assert there >= before, f"{there} of {before} parts are left:\n{app.screen()}"
        app.press("m")
        app.until(f"{count} of {count} parts", seconds=PATIENCE)
        self.told(f"{count} parts are made, {there} of them before the end of the first app")
        app.press("n")
        app.until("is in the whole", seconds=PATIENCE)
        app.press("Escape")
        self.kill("after a part was said anew")
        app = self.again()
        app.press("F6")
        app.until(f"{count} of {count} parts")
        app.until("take 2 of 2")
        whole = self.seconds(app.screen())
        app.press("e")
        app.until("Save the whole")
        target = self.folder / "whole.flac"
        app.press("C-u")
        time.sleep(1)  # faster than people, letters overtake it
        app.press("-l", str(target))
        app.press("Enter")
        app.until("saved ", seconds=PATIENCE)
        samples = read_audio(target, 44100, max_seconds=7200.0)
        seconds = len(samples) / 44100
        assert abs(seconds - whole) < 1.5, f"{seconds:.1f} s in the file, {whole} s on the screen"
        assert np.abs(samples).max() > 0.01
        self.told(f"exported {seconds:.1f} s")

    def kept(self) -> None:
        self.kill("after the export")
        app = self.again()
        app.until("me ")
        texts = [path.read_text() for path in (self.folder / "state" / "s2mlx" / "takes").glob("*/text.json")]
        assert any(self.text.split(".")[0] in text for text in texts)
        app.press("C-t")
        app.until(self.text.split(".")[0])
        self.told("voice, text and history are there")
        app.press("Escape", "C-q")

    @staticmethod
    def count(shown: str) -> tuple[int, int]:
        """(how many parts there are, of how many)."""
        found = re.search(r"(\d+) of (\d+) parts", shown)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    @staticmethod
    def seconds(shown: str) -> float:
        found = re.search(r"parts · (?:(\d+):)?(\d+):(\d+) of sound", shown)
        assert found, shown
        return int(found[1] or 0) * 3600 + int(found[2]) * 60 + int(found[3])


def main(sentences: int) -> None:
    if reason := missing():
        raise SystemExit(reason)
    lines = [f"The {COLOURS[n % 8]} {THINGS[n % 7]} is number {n + 1}." for n in range(sentences)]
    loop = start()
    flow = None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # nothing is left running then either
    try:
        # The last app may still write while it ends.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            flow = LongFlow(loop, Path(folder), "\n\n".join(" ".join(lines[n : n + 5]) for n in range(0, sentences, 5)))
            flow.takes()
            flow.parts()
            flow.kept()
    except AssertionError as fault:
        raise SystemExit(str(fault)) from None
    finally:
        if flow and flow.app:
            flow.app.tmux("kill-server")
        loop.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
