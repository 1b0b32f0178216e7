"""Voice Memos and other m4a files: written and read by the system's converter."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...audio import read_audio, write_audio
from ...audio.foreign import can_make_m4a
from ...errors import AudioError
from ..finding import Finding, bad, good, note

_RATE, _SECONDS, _HZ = 44100, 1.0, 440.0


def run() -> Iterator[Finding]:
    tool = "afconvert" if shutil.which("afconvert") else "ffmpeg"
    if not can_make_m4a():
        absent = "neither afconvert nor ffmpeg is here: m4a files cannot be read or written"
        if sys.platform == "darwin":
            yield bad(absent, "afconvert is part of macOS, in /usr/bin: is that in your PATH?")
        else:
            yield note(absent, "install ffmpeg; WAV, FLAC, OGG and MP3 need none")
        return
    tone = 0.3 * np.sin(2 * np.pi * _HZ * np.arange(round(_SECONDS * _RATE)) / _RATE).astype(np.float32)
    with tempfile.TemporaryDirectory(prefix="s2mlx-doctor-") as folder:
        path = Path(folder) / "tone.m4a"
        try:
            write_audio(path, tone, _RATE)
            heard = read_audio(path, _RATE)
        except AudioError as fault:
            yield bad(f"{tool}: {fault}", "use WAV, FLAC or MP3 instead; a report (s2mlx doctor --report) helps us")
            return
    if other := wrong(heard):
        yield bad(f"{tool} {other}", "use WAV, FLAC or MP3 instead; a report (s2mlx doctor --report) helps us")
    else:
        yield good(f"{tool} writes and reads m4a", seconds=len(heard) / _RATE)


def wrong(heard: np.ndarray) -> str:
    """AAC puts a little silence around the sound; the tone itself must be there."""
    seconds = len(heard) / _RATE
    if not _SECONDS - 0.01 <= seconds <= _SECONDS + 0.2:
        return f"makes {seconds:.2f} s of {_SECONDS:.0f} s"
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(len(heard))))
    found = float(np.argmax(spectrum) / seconds)
    return "" if abs(found - _HZ) < 3 else f"makes {found:.0f} Hz of {_HZ:.0f} Hz"
