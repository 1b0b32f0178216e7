"""Debian's flite: outside voices that `evaluate_clones` clones."""

import os
import subprocess
import tempfile

import soundfile

RATE = 16000


def speak(text, voice, stretch=1.08):
    """-> samples float64 at 16 kHz."""
    with tempfile.NamedTemporaryFile(suffix=".wav", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as wav:
        subprocess.run(
            ["flite", "-voice", voice, "--setf", f"duration_stretch={stretch}", "-t", text, "-o", wav.name], check=True
        )
        samples, rate = soundfile.read(wav.name)
    assert rate == RATE, rate
    return samples
