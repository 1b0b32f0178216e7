"""A real sound system without a sound card: an own PulseAudio daemon whose one loudspeaker is a null sink, and whose
one microphone is that sink's monitor. PortAudio reaches it through ALSA's pulse plugin.

The daemon lives in a folder of its own with its own socket; a user's daemon is neither found nor touched, and several
test processes can run side by side. As a pytest fixture: `from tests.audio.loop import loop`, then `loop.environment`
for a child process. PortAudio reads the environment when it starts, so what uses it runs in a child.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from ctypes.util import find_library
from dataclasses import dataclass, field
from pathlib import Path

import pytest

RATE = 44100
_START_WAIT = 20.0  # s


@dataclass
class Loop:
    """A running daemon. `environment` makes a child process use it."""

    folder: Path
    daemon: subprocess.Popen | None
    environment: dict = field(default_factory=dict)

    def python(self, code: str, *arguments, timeout: float = 120, check: bool = True) -> subprocess.CompletedProcess:
        """Run Python code in a child that hears and plays on the loop; its text output is in the result."""
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            env=self.environment,
            text=True,
            capture_output=True,
            timeout=timeout,
            cwd=Path(__file__).parents[2],
        )
        if check and done.returncode:
            raise AssertionError(f"the child failed:\n{done.stdout}\n{done.stderr}")
        return done

    def record_monitor(self, path: Path) -> subprocess.Popen:
        """Record what the loudspeaker gives, as raw s16le mono, until terminated. PortAudio is not involved."""
        recorder = subprocess.Popen(
            [
                "parec",
                "--device=loop.monitor",
                f"--rate={RATE}",
                "--channels=1",
                "--format=s16le",
                "--latency-msec=20",
                "--raw",
                str(path),
            ],
            env=self.environment,
        )
        end = time.monotonic() + _START_WAIT
        while not (path.exists() and path.stat().st_size):  # it runs once the first sound is there
            if time.monotonic() > end or recorder.poll() is not None:
                recorder.kill()
                raise AssertionError("parec records nothing")
            time.sleep(0.02)
        return recorder

    def stop(self) -> None:
        if self.daemon is not None:
            self.daemon.terminate()
            self.daemon.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def missing() -> str | None:
    """Why there can be no loop here; None if there can."""
    if sys.platform != "linux":
        return "the audio loop needs Linux"
    for program in ("pulseaudio", "pactl", "parec"):
        if shutil.which(program) is None:
            return f"the audio loop needs {program} (.ci/audio_loop.sh installs it)"
    if find_library("portaudio") is None:
        return "the audio loop needs libportaudio2 (.ci/audio_loop.sh installs it)"
    if not list(Path("/usr/lib").glob("**/alsa-lib/libasound_module_pcm_pulse.so")):
        return "the audio loop needs libasound2-plugins (.ci/audio_loop.sh installs it)"
    return None


def start() -> Loop:
    """Start a daemon; RuntimeError with its words if it does not come up."""
    folder = Path(tempfile.mkdtemp(prefix="s2mlx-loop-"))  # short: a socket's path may have 107 bytes
    for name in ("run", "home"):
        (folder / name).mkdir(mode=0o700)
    alsa = folder / "alsa.conf"
    alsa.write_text(
        "</usr/share/alsa/alsa.conf>\npcm.!default { type pulse }\nctl.!default { type pulse }\n"
        "pcm.pulse { type pulse }\nctl.pulse { type pulse }\n"
    )
    socket = folder / "run" / "native"
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PULSE_", "XDG_", "ALSA_", "DBUS_", "JACK_"))
    }
    environment |= {
        "HOME": str(folder / "home"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "ALSA_CONFIG_PATH": str(alsa),
        "PULSE_SERVER": f"unix:{socket}",
        "PULSE_COOKIE": str(folder / "cookie"),
        "JACK_NO_START_SERVER": "1",
    }
    daemon = subprocess.Popen(
        # Without clients it ends by itself after a while: a test run that is killed leaves nothing for ever.
        [
            "pulseaudio",
            "-n",
            "--daemonize=no",
            "--exit-idle-time=600",
            "--use-pid-file=no",
            "--log-target=file:" + str(folder / "log"),
            f"--load=module-native-protocol-unix socket={socket} auth-anonymous=1",
            f"--load=module-null-sink sink_name=loop rate={RATE} channels=2",
        ],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + _START_WAIT
    while time.monotonic() < end and daemon.poll() is None:
        sinks = subprocess.run(["pactl", "list", "short", "sinks"], env=environment, capture_output=True, text=True)
        if "loop" in sinks.stdout:
            return Loop(folder, daemon, environment)
        time.sleep(0.05)
    log = (folder / "log").read_text() if (folder / "log").exists() else ""
    daemon.kill()
    shutil.rmtree(folder, ignore_errors=True)
    raise RuntimeError(f"pulseaudio did not start: {log[-2000:]}")


@pytest.fixture(scope="module")
def loop():
    """A daemon for the tests of one module; skips with the reason where there can be none."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    running = start()
    yield running
    running.stop()
