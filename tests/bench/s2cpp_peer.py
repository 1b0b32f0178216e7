"""s2.cpp as a peer: its command, run as anybody would, on the model of a comparison, and what it tells of its parts.

A frame's time is the difference of a short and a long speech: AR and codec together, without loading and prompt. Frames
are counted in the sound it writes. It is told to speak as long as it may: otherwise chance could end it sooner.
"""

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FRAME = 2048  # samples
TEXT = "The quick brown fox jumps over the lazy dog."
# Its log has a line of figures for each of its three steps, in milliseconds; the names are ours.
_PARTS = {
    "loading": ("Init", "total"),
    "prompt": ("Generate", "prefill"),
    "frames": ("Generate", "loop"),
    "codec": ("Synthesis", "decode_wall"),
}


@dataclass(frozen=True)
class Spoken:
    wall: float  # seconds of the whole process
    cpu: float
    parts: dict[str, float]  # seconds of loading, prompt, frames, codec, by its own log; none where it tells nothing


def seconds_a_frame(binary: Path, model: Path, threads: int, short: int, long: int, rounds: int):
    """[(wall, CPU) seconds a frame] of each round. Ends the program with one line if the command fails."""
    found = []
    for turn in range(rounds):
        first, second = (speak(binary, model, threads, frames) for frames in (short, long))
        more = long - short
        found.append(((second.wall - first.wall) / more, (second.cpu - first.cpu) / more))
        print(f"turn {turn}: s2.cpp {found[-1][0]:.3f} s a frame, {found[-1][1]:.3f} of CPU", file=sys.stderr)
    return found


def speak(binary: Path, model: Path, threads: int, frames: int) -> Spoken:
    """So many frames, in a process of its own. Ends the program with one line if it does not speak them."""
    import soundfile

    wav = model.with_name("s2cpp.wav")
    wav.unlink(missing_ok=True)
    command = [binary, "-m", model, "-t", model.with_name("tokenizer.json"), "-text", TEXT, "-threads", threads]
    command += ["-max-tokens", frames, "--min-tokens-before-end", frames, "-o", wav]
    wall, cpu, done = timed(command)
    if done.returncode or not wav.exists():
        sys.exit(f"{binary}: no sound, exit code {done.returncode}: {_reason(done)}")
    spoken = round(soundfile.info(wav).frames / FRAME)
    if spoken != frames:
        sys.exit(f"{binary}: {spoken} frames where {frames} were asked for")
    return Spoken(wall, cpu, _parts(done.stdout))


def timed(command: list) -> tuple[float, float, subprocess.CompletedProcess]:
    """Wall and CPU seconds of a command, and how it ended. Ends the program if it cannot be started."""
    before, began = os.times(), time.perf_counter()
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace")
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")
    wall, after = time.perf_counter() - began, os.times()
    return wall, sum(after[2:4]) - sum(before[2:4]), done  # of children that have ended


def _parts(log: str) -> dict[str, float]:
    found = {}
    for name, (line, figure) in _PARTS.items():
        if value := re.search(rf"\[Metrics\] {line}:.*?\b{figure}=([\d.e+]+) ms", log):
            found[name] = float(value[1]) / 1000
    return found


def _reason(done: subprocess.CompletedProcess) -> str:
    """Its last line says only that something went wrong; what did stands in the first that is no warning."""
    lines = (done.stderr.strip() or done.stdout.strip() or "nothing said").splitlines()
    told = [line for line in lines if not re.search("warning|using default", line, re.I)]
    return next((line for line in told if re.search("error|fail|assert|missing|expected", line, re.I)), lines[-1])
