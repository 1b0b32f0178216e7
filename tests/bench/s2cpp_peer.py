"""How long a frame takes in s2.cpp: its command, run as anybody would, on the model of the comparison.

It tells nothing of its parts, so it speaks twice, a short and a long while, and the difference of the two is what the
further frames took: AR and codec together, without loading and prompt. Frames are counted in the sound it writes.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

FRAME = 2048  # samples
TEXT = "The quick brown fox jumps over the lazy dog."


def seconds_a_frame(binary: Path, model: Path, threads: int, short: int, long: int, rounds: int):
    """[(wall, CPU) seconds a frame] of each round. Ends the program with one line if the command fails."""
    found = []
    for turn in range(rounds):
        first, second = (_speak(binary, model, threads, frames) for frames in (short, long))
        more = second[2] - first[2]
        if more <= 0:
            sys.exit(f"{binary}: {second[2]} frames where {long} were asked for, {first[2]} where {short} were")
        found.append(((second[0] - first[0]) / more, (second[1] - first[1]) / more))
        print(f"turn {turn}: s2.cpp {found[-1][0]:.3f} s a frame, {found[-1][1]:.3f} of CPU", file=sys.stderr)
    return found


def _speak(binary: Path, model: Path, threads: int, frames: int) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds, frames that were spoken."""
    import soundfile

    wav = model.with_name("s2cpp.wav")
    wav.unlink(missing_ok=True)
    command = [binary, "-m", model, "-t", model.with_name("tokenizer.json"), "-text", TEXT]
    command += ["-threads", threads, "-max-tokens", frames, "-o", wav]
    before, began = os.times(), time.perf_counter()
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace")
    except OSError as error:
        sys.exit(f"{binary}: {error.strerror}")
    wall, after = time.perf_counter() - began, os.times()
    if done.returncode or not wav.exists():
        said = (done.stderr.strip() or done.stdout.strip() or "nothing said").splitlines()[-1]
        sys.exit(f"{binary}: no sound, exit code {done.returncode}: {said}")
    cpu = sum(after[2:4]) - sum(before[2:4])  # of children that have ended
    return wall, cpu, round(soundfile.info(wav).frames / FRAME)
