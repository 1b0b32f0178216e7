"""The bundled voice: text to sound, into a file and out of it again, and heard where an ear is installed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...errors import EarError
from ...listen import compare, find_ear
from ..finding import Finding, bad, good, note

TEXT = "The boat went out in the morning."
_SECONDS = (1.0, 8.0)  # that this may take to say
_QUIET = 0.01  # rms
_MOST_WRONG = 0.5  # of the words


def run() -> Iterator[Finding]:
    import s2mlx
    from s2mlx.audio import read_audio
    from s2mlx.weights import DEMO

    began = time.perf_counter()
    with s2mlx.load(DEMO) as tts:
        loading = time.perf_counter() - began
        tts.say("Hello.", seed=1, max_frames=8)  # what is built once
        audio = tts.say(TEXT, seed=7)
        heard_codes = tts.codec.encode(audio.samples)
    rtf = audio.stats.elapsed / audio.seconds if audio.seconds else 0.0
    with tempfile.TemporaryDirectory(prefix="s2mlx-doctor-") as folder:
        path = Path(folder) / "spoken.flac"
        audio.save(path)
        samples = read_audio(path, audio.sample_rate)
    fault = wrong(audio.samples, samples, audio.sample_rate)
    if fault:
        yield bad(f"the bundled voice: {fault}", "make a report (s2mlx doctor --report) and attach it to an issue")
        return
    first = audio.stats.first_audio or 0.0
    yield good(
        f"the bundled voice speaks: {audio.seconds:.1f} s, real-time factor {rtf:.2f}, loaded in {loading:.1f} s, "
        f"first sound after {first:.2f} s; the file holds what was said",
        rtf=rtf, first_audio=first, loading=loading, frames=int(audio.codes.shape[1]), heard=int(heard_codes.shape[1]),
    )  # fmt: skip
    yield recognized(samples, audio.sample_rate)


def recognized(samples: np.ndarray, rate: int) -> Finding:
    """Whether the ear that is installed hears the sentence: a word may be another, since the voice is small."""
    try:
        ear = find_ear()
    except EarError as fault:
        return note(f"nobody listened: {fault}")
    try:
        heard = ear.hear(samples, rate, "en").text
    except EarError as fault:
        return bad(f"the ear: {fault}", "reinstall it, or speak without --check")
    finally:
        ear.close()
    found = compare(TEXT, heard)
    figures = {"ear": ear.name, "errors": found.errors, "words": found.words}
    if found.rate > _MOST_WRONG:
        return bad(f"{ear.name} heard {heard!r} for {TEXT!r}", "listen yourself: s2mlx say it", **figures)
    return good(f"{ear.name} heard it: {found.words - found.errors} of {found.words} words", **figures)


def wrong(spoken: np.ndarray, read: np.ndarray, rate: int) -> str:
    """What is wrong with the sound, or with what came back from its file; empty if nothing is."""
    if not np.isfinite(spoken).all():
        return "it says what is no number"
    seconds = len(spoken) / rate
    if not _SECONDS[0] <= seconds <= _SECONDS[1]:
        return f"{TEXT!r} takes {seconds:.1f} s"
    if np.sqrt(np.mean(np.square(spoken))) < _QUIET:
        return "it is silent"
    if len(read) != len(spoken) or np.abs(read - np.clip(spoken, -1, 1)).max() > 1e-3:
        return "its file gives other sound than was written"
    return ""
