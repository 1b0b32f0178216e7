"""Debian's flite as the teacher: text -> phones with end times and 16 kHz speech -> envelope and aperiodicity."""

import os
import subprocess
import sys
import tempfile
import types

import numpy as np
import soundfile

from .vocoder import BAND_HZ, BANDS

try:  # pyworld asks for a module that new setuptools lack
    import pkg_resources  # noqa: F401
except ImportError:
    stub = types.ModuleType("pkg_resources")
    stub.get_distribution = lambda name: types.SimpleNamespace(version="0")
    sys.modules["pkg_resources"] = stub
import pyworld

RATE = 16000
STEP_MS = 5.0
FFT = 1024
VOICE = "rms"
STRETCH = 1.08


def speak(text, voice=VOICE, stretch=STRETCH):
    """-> phones [(name, end seconds)], samples float64 at 16 kHz."""
    with tempfile.NamedTemporaryFile(suffix=".wav", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as wav:
        done = subprocess.run(
            ["flite", "-voice", voice, "--setf", f"duration_stretch={stretch}", "-psdur", "-t", text, "-o", wav.name],
            check=True,
            capture_output=True,
            text=True,
        )
        samples, rate = soundfile.read(wav.name)
    assert rate == RATE, rate
    phones = [(p.split(":")[0], float(p.split(":")[1])) for p in done.stdout.split()]
    return phones, samples


def _band_weights():
    """[BANDS, FFT // 2 + 1] triangular averages around each mel point."""
    hz = np.arange(FFT // 2 + 1) * RATE / FFT
    edges = np.concatenate([[0], BAND_HZ, [RATE / 2]])
    w = np.zeros((BANDS, len(hz)))
    for i in range(BANDS):
        low, mid, high = edges[i : i + 3]
        w[i] = np.clip(np.minimum((hz - low) / max(mid - low, 1), (high - hz) / max(high - mid, 1)), 0, None)
        if w[i].sum() < 1e-6:
            w[i] = np.maximum(0, 1 - np.abs(hz - mid) * FFT / RATE)
        w[i] /= w[i].sum()
    return w


_WEIGHTS = _band_weights()


def analyse(samples):
    """-> float32 [T, 2 * BANDS] (log-amplitude envelope, aperiodicity) every 5 ms, and f0 [T]."""
    f0, t = pyworld.dio(samples, RATE, f0_floor=60, f0_ceil=320, frame_period=STEP_MS)
    f0 = pyworld.stonemask(samples, f0, t, RATE)
    power = pyworld.cheaptrick(samples, f0, t, RATE, fft_size=FFT)
    aperiodicity = pyworld.d4c(samples, f0, t, RATE, fft_size=FFT)
    envelope = 0.5 * np.log(power + 1e-10) @ _WEIGHTS.T
    return np.concatenate([envelope, np.clip(aperiodicity @ _WEIGHTS.T, 0, 1)], 1).astype(np.float32), f0
