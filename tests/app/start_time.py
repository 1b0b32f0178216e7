"""How soon the app is there: `python -m tests.app.start_time [runs]` prints figures as JSON, the median of the runs.

The command itself, with the bundled model, in a pseudo-terminal of 120 x 40; folders of its own.
    picture_s    from the start to the first picture of the main screen, and what the process had computed by then
    typed_s      from the start to the picture of a word that is typed as soon as that picture is there
    typed_ms     from the key to the picture, each key of that word: the slowest
    ready_s      from the start to the word that the model is loaded
    floor_cpu_s  what an app of Textual alone, with one word on it, has computed by then
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

WORD = "zqxjk"  # letters that the screen does not show by itself, one after the other
PICTURE, READY = b"Voices", b"ready"
FLOOR = """
from textual.app import App
from textual.widgets import Static

class Floor(App):
    def compose(self):
        yield Static("Voices")

Floor().run()
"""


def measure(size: tuple[int, int] = (120, 40)) -> dict[str, float]:
    """One start of the app, and one of Textual alone."""
    found = _start(["-m", "s2mlx", "tui"], size, 5)
    return found | {"floor_cpu_s": _start(["-c", FLOOR], size, 2)["picture_cpu_s"]}


def _start(arguments: list[str], size: tuple[int, int], figures: int) -> dict[str, float]:
    """Until so many figures are known."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        child, terminal = pty.fork()
        if child == 0:
            homes = {f"XDG_{name}_HOME": f"{folder}/{name}" for name in ("CONFIG", "DATA", "STATE")}
            environment = {k: v for k, v in os.environ.items() if not k.startswith("S2MLX")} | homes
            command = [sys.executable, *arguments]
            os.execve(command[0], command, environment | {"TERM": "xterm-256color", "COLORTERM": "truecolor"})
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        try:
            return _watch(child, terminal, begin, figures)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(terminal)


def _watch(child: int, terminal: int, begin: float, figures: int) -> dict[str, float]:
    found: dict[str, float] = {}
    seen, typed, keys, pressed = b"", 0, [], 0.0
    while len(found) < figures and time.perf_counter() < begin + 120:
        seen += os.read(terminal, 65536)
        now = time.perf_counter()
        if "picture_s" not in found and PICTURE in seen:
            found |= {"picture_s": now - begin, "picture_cpu_s": _cpu(child)}
        if "picture_s" not in found:
            continue
        if READY in seen and "ready_s" not in found:
            found["ready_s"] = now - begin
        if typed and typed <= len(WORD) and WORD[typed - 1].encode() in seen.rpartition(b"\0")[2]:
            keys.append(now - pressed)
            if typed == len(WORD):
                found |= {"typed_s": now - begin, "typed_ms": 1000 * max(keys)}
                typed += 1
        if typed < len(WORD) and len(keys) == typed:
            os.write(terminal, WORD[typed].encode())
            seen, typed, pressed = seen + b"\0", typed + 1, now
    return found


def _cpu(process: int) -> float:
    """Seconds of CPU that a process has used; not a number where the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    runs = [measure() for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)]
    print(json.dumps({key: round(statistics.median(run[key] for run in runs), 2) for key in runs[0]}, indent=1))
