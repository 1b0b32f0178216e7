"""The real thing: PortAudio, a real sound server, and a recording of what came out. Skipped without PulseAudio."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from .loop import RATE, loop  # noqa: F401  (a fixture)

# In real time: on a machine that is busy for a moment a sound server drops samples without a word. One try of three has
# to be whole. Gaps that do have a word, `undisturbed` tries again.
pytestmark = pytest.mark.flaky(reruns=2)

# Plays argv[1] (float32 at argv[2] Hz) in chunks, each after the time it takes to make it at real-time factor argv[3].
PLAY = """
import json, sys, time
import numpy as np
from s2mlx.audio.play.player import Player

samples, rate, rtf = np.load(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
events = []
with Player(rate, on_event=events.append) as player:
    player.begin(rtf, len(samples) / rate)
    for begin in range(0, len(samples), 4096):
        piece = samples[begin:begin + 4096]
        time.sleep(rtf * len(piece) / rate)
        player.play(piece)
    player.finish()
    heard = player.wait(60)
    print(json.dumps([heard, str(player.error), player.underruns, events, player.position, player.device_name]))
    time.sleep(0.3)
"""

# Stops noise in the middle and measures, on the recorded monitor, how long it still sounded. The recorder's own delay
# is part of the figure, so it is an upper bound.
STOP = """
import json, os, subprocess, sys, threading, time
import numpy as np
from s2mlx.audio.play.player import Player

RATE = 44100
recorder = subprocess.Popen(["parec", "--device=loop.monitor", f"--rate={RATE}", "--channels=1", "--format=s16le",
                             "--latency-msec=10", "--raw"], stdout=subprocess.PIPE)
pieces, zero = [], [1e18]      # zero: clock time of recorded sample 0, seen through the fastest arrival

def listen():
    count = 0
    while data := os.read(recorder.stdout.fileno(), 4096):
        pieces.append(data)
        count += len(data) // 2
        zero[0] = min(zero[0], time.monotonic() - count / RATE)

threading.Thread(target=listen, daemon=True).start()
noise = np.random.default_rng(0).uniform(-0.5, 0.5, 10 * RATE).astype(np.float32)
results = []
with Player(RATE) as player:
    for _ in range(3):
        player.begin(0.1, 10)
        player.play(noise)
        player.finish()
        while player.position < 0.7:
            time.sleep(0.01)
        pressed = time.monotonic()
        player.stop()
        returned = time.monotonic()
        time.sleep(0.5)
        sound = np.frombuffer(b"".join(list(pieces)), "<i2")
        last = np.flatnonzero(sound)[-1]
        results.append([zero[0] + last / RATE - pressed, returned - pressed])
recorder.terminate()
recorder.wait()
print(json.dumps(results))
"""


def recorded(path):
    return np.fromfile(path, "<i2").astype(np.float32) / 32768


def align(recording, samples):
    """(lag in samples, correlation) of the samples in the recording."""
    size = 1 << (len(recording) + len(samples)).bit_length()
    product = np.fft.irfft(np.fft.rfft(recording, size) * np.conj(np.fft.rfft(samples, size)), size)
    lag = int(np.argmax(product[: len(recording)]))
    part = recording[lag : lag + len(samples)]
    samples = samples[: len(part)]
    return lag, float(np.dot(part, samples) / (np.linalg.norm(part) * np.linalg.norm(samples)))


def undisturbed(attempt, tries=4):
    """The result of the first attempt during which nothing had to wait for the machine, else of the last one.

    attempt() -> (result, number of gaps that the player or the recorder told of)."""
    for _ in range(tries):
        result, gaps = attempt()
        if not gaps:
            break
    return result


def play_and_record(loop, tmp_path, samples, rate, rtf):
    """([heard, error, underruns, events, position, device], recording)."""
    np.save(tmp_path / "samples.npy", samples)

    def attempt():
        recorder = loop.record_monitor(tmp_path / "monitor.raw")
        try:
            done = loop.python(PLAY, tmp_path / "samples.npy", rate, rtf)
        finally:
            recorder.terminate()
            recorder.wait()
        report, recording = json.loads(done.stdout), recorded(tmp_path / "monitor.raw")
        (tmp_path / "monitor.raw").unlink()
        return (report, recording), report[2]

    return undisturbed(attempt)


def voice(seconds, rate, seed=1):
    """Band-limited noise in syllables: it has one alignment only, and survives a resampler."""
    rng = np.random.default_rng(seed)
    n = round(seconds * rate)
    spectrum = np.fft.rfft(rng.standard_normal(n))
    spectrum[np.fft.rfftfreq(n, 1 / rate) > 5000] = 0
    sound = np.fft.irfft(spectrum, n) * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * np.arange(n) / rate))
    return (0.5 * sound / np.abs(sound).max()).astype(np.float32)


def test_played_equals_generated(loop, tmp_path):
    samples = voice(2.5, RATE)
    (heard, error, _, events, position, device), recording = play_and_record(loop, tmp_path, samples, RATE, 0.5)
    assert heard and error == "None" and device and abs(position - 2.5) < 0.01
    lag, correlation = align(recording, samples)
    assert correlation > 0.999, (lag, correlation)
    part = recording[lag : lag + len(samples)]
    assert len(part) == len(samples) and np.abs(part - samples).max() < 1e-3
    assert events == ["started", "finished"]


def test_slower_than_real_time_is_played_without_a_gap(loop, tmp_path):
    samples = voice(2.0, RATE, seed=2)
    (heard, error, *_), recording = play_and_record(loop, tmp_path, samples, RATE, 1.5)
    assert heard and error == "None"
    assert align(recording, samples)[1] > 0.999


def test_a_rate_of_its_own(loop, tmp_path):
    samples = voice(1.5, 24000, seed=3)
    (heard, error, *_), recording = play_and_record(loop, tmp_path, samples, 24000, 0.3)
    from s2mlx.audio.rates import resample

    assert heard and error == "None" and align(recording, resample(samples, 24000, RATE))[1] > 0.99


def test_stop_is_heard_within_100_ms(loop):
    results = json.loads(loop.python(STOP).stdout)
    assert min(after for after, _ in results) < 0.1, results
    assert min(took for _, took in results) < 0.1, results


# Records for as long as the file "go" of the folder argv[1] exists, as `s2mlx record` does.
RECORD = """
import sys, time
from pathlib import Path
import numpy as np
from s2mlx.audio.microphone import Recorder, check

folder = Path(sys.argv[1])
with Recorder(44100) as recorder:
    recorder.start()
    assert recorder.wait_ready(20), recorder.error
    (folder / "ready").touch()
    loudest = -120.0
    while (folder / "go").exists():
        loudest = max(loudest, recorder.level.peak)
        time.sleep(0.02)
    take = recorder.stop()
np.save(folder / "take.npy", take.samples)
print(loudest, take.clipped, take.zeros_only, take.overflows, take.error)
"""


def test_the_recorder_hears_what_is_played(loop, tmp_path):
    samples = voice(3.0, RATE, seed=4)
    np.save(tmp_path / "samples.npy", samples)

    def attempt():
        (tmp_path / "go").touch()
        (tmp_path / "ready").unlink(missing_ok=True)
        recorder = subprocess.Popen(
            [sys.executable, "-c", RECORD, str(tmp_path)], env=loop.environment, text=True, stdout=subprocess.PIPE
        )
        try:
            while not (tmp_path / "ready").exists() and recorder.poll() is None:
                time.sleep(0.05)
            _, _, underruns, *_ = json.loads(loop.python(PLAY, tmp_path / "samples.npy", RATE, 0.2).stdout)
            (tmp_path / "go").unlink()
            text, _ = recorder.communicate(timeout=60)
        finally:
            recorder.kill()
        assert recorder.returncode == 0
        said = text.split()
        return said, underruns + int(said[3])

    loudest, clipped, zeros_only, _, error = undisturbed(attempt)
    assert (clipped, zeros_only, error) == ("0", "False", "None")
    assert abs(float(loudest) - 20 * np.log10(np.abs(samples).max())) < 0.5
    lag, correlation = align(np.load(tmp_path / "take.npy"), samples)
    assert correlation > 0.999, (lag, correlation)


def test_devices_are_listed_and_found(loop):
    text = loop.python(
        "from s2mlx.audio.hardware.devices import *\n"
        "print(find_output().name, find_input().name, find_output('pulse').index)\n"
        "assert list_devices(refresh=True)\n"
        "from s2mlx.audio.hardware.portaudio import PortAudio\n"
        "stream = PortAudio().open_output(find_output(), 44100)\n"
        "assert list_devices(refresh=True)           # leaves the open stream alone\n"
        "import numpy; assert stream.write(numpy.zeros(100, 'f')) == 100\n"
        "stream.close()\nassert list_devices(refresh=True)"
    )
    assert text.stdout.split()[:2] == ["default", "default"] and text.stderr == ""


def test_without_a_sound_server_one_line_says_so(loop, tmp_path):
    """The daemon is gone (its socket is elsewhere): an error at once, the audio is kept, nothing hangs."""
    code = (
        "import numpy as np\nfrom s2mlx.audio.play.player import Player\n"
        "with Player(44100) as player:\n"
        "    player.play(np.ones(1000, np.float32)); player.finish()\n"
        "    print(player.wait(20), len(player.unheard()))\n    print(player.error)"
    )
    lonely = type(loop)(tmp_path, None, loop.environment | {"PULSE_SERVER": f"unix:{tmp_path}/nothing"})
    first, message = lonely.python(code).stdout.strip().split("\n")
    assert first == "False 1000" and message
