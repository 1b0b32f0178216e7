"""`say` on a real sound server: what was generated is what sounded, and Ctrl-C ends it. Skipped without PulseAudio."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.audio.loop import RATE, loop  # noqa: F401  (a fixture)
from tests.audio.test_loop import align, recorded, undisturbed
from tests.synthetic import make_model

# In real time: on a machine that is busy for a moment a sound server drops samples and a terminal lags, without a word.
# One try of three has to be whole.
pytestmark = pytest.mark.flaky(reruns=2)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def command(loop, tmp_path):
    model = make_model(tmp_path / "tiny.gguf", context=2048)
    variables = {
        "S2MLX_MODEL": str(model),
        "S2MLX_TOKENIZER": str(ROOT / "tests" / "golden" / "tokenizer.json"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }

    def start(*argv, **streams):
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.Popen(
            [sys.executable, "-m", "s2mlx", *map(str, argv)],
            cwd=ROOT,
            text=True,
            env={**loop.environment, "TERM": "xterm", **variables},
            **streams,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return start


def test_what_is_written_is_what_sounds(loop, command, tmp_path):
    def attempt():
        (tmp_path / "heard.raw").unlink(missing_ok=True)
        recorder = loop.record_monitor(tmp_path / "heard.raw")
        process = command(
            "say", "Hello.", "-o", tmp_path / "out.wav", "--play", "--json", "--min-frames", "20", "--max-frames", "20"
        )
        out, err = process.communicate(timeout=120)
        time.sleep(0.3)
        recorder.terminate()
        recorder.wait()
        assert process.returncode == 0 and err.startswith("warning: the limit of 20 frames")
        figures = json.loads(out)
        return figures, figures["underruns"]

    assert undisturbed(attempt)["played"]
    made, rate = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert rate == RATE
    lag, correlation = align(recorded(tmp_path / "heard.raw"), made)
    assert lag > 0 and correlation > 0.99


def test_an_interrupt_while_playing(loop, command, tmp_path):
    process = command("say", "A long text.", "--min-frames", "300", "--max-frames", "300", "--quiet")
    recorder = loop.record_monitor(tmp_path / "heard.raw")
    end = time.monotonic() + 60
    while not np.any(recorded(tmp_path / "heard.raw")):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    before = os.path.getsize(tmp_path / "heard.raw")
    time.sleep(0.5)
    recorder.terminate()
    recorder.wait()
    assert process.returncode == 130 and err == ""
    assert not np.any(recorded(tmp_path / "heard.raw")[before // 2 + RATE // 10 :])


def test_a_recorded_voice_is_that_of_its_clip(loop, command, tmp_path):
    from s2mlx.voices import Voice, VoiceLibrary

    from .test_record import speech

    source = speech(12)
    source[: RATE // 2] = 0
    soundfile.write(tmp_path / "source.wav", source, RATE)
    sound = subprocess.Popen(["paplay", "--device=loop", str(tmp_path / "source.wav")], env=loop.environment)
    out, err = command("record", "me", "--seconds", "6", "--text", "My words.").communicate(timeout=120)
    sound.terminate()
    sound.wait()
    library = VoiceLibrary(tmp_path / "data" / "s2mlx" / "voices")
    assert out == "" and library.names() == ["me"], err
    clip, rate = library.clip("me")
    lag, correlation = align(source, clip[: 4 * RATE])
    assert rate == RATE and correlation > 0.98
    soundfile.write(tmp_path / "clip.wav", clip, rate, subtype="FLOAT")
    command("encode", tmp_path / "clip.wav", "-o", tmp_path / "clip.npy").communicate(timeout=60)
    voice: Voice = library.get("me")
    assert voice.transcript == "My words." and np.array_equal(voice.codes, np.load(tmp_path / "clip.npy"))


def test_recording_at_a_keyboard(command, tmp_path):
    """Read, count down, Enter ends it; silence makes no voice, and no is an answer."""
    keyboard, terminal = os.openpty()
    process = command("record", "me", stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = b""

    def until(words):
        nonlocal shown
        while words not in shown:
            shown += os.read(keyboard, 4096)

    until(b"Read this aloud")
    until(b"get ready: 1")
    until(b"Enter ends it")
    os.write(keyboard, b"\n")
    until(b"Record again? [Y/n]")
    os.write(keyboard, b"n\n")
    until(b"no voice was made")
    assert process.wait(timeout=30) == 1 and not (tmp_path / "data").exists()
    os.close(keyboard)


def test_devices(command):
    out, err = command("devices").communicate(timeout=60)
    assert "pulse" in out and "default-output" in out and "default-input" in out and err == ""
    listed = json.loads(command("devices", "--json").communicate(timeout=60)[0])["devices"]
    assert any(d["name"] == "pulse" and d["outputs"] for d in listed)
    out, err = command("say", "-a", "?").communicate(timeout=60)
    assert out.splitlines()[0].split() == ["device", "in", "out", "rate"]


def test_an_unknown_device_is_named_before_the_model_loads(command):
    process = command("say", "Hello.", "-a", "gramophone", "-m", "missing.gguf")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "gramophone" in err and err.count("\n") == 1
