"""Saving sound to a file that the user names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .. import figures
from ..jobs import Job
from ..paths import typed, writable
from .base import AppScreen

if TYPE_CHECKING:
    import numpy as np

ENDINGS = (".wav", ".flac", ".m4a", ".mp3", ".ogg", ".opus")
FILE = f"File: its ending decides the format ({', '.join(ending[1:] for ending in ENDINGS)})"


@dataclass(frozen=True)
class SoundToSave:
    """Samples float32 [n], codes int32 [num_codebooks, frames] if there are any. `cut`: the speech was stopped, or
    failed, before its end."""

    samples: np.ndarray
    rate: int
    codes: np.ndarray | None = None
    cut: bool = False


def suggested_name(text: str) -> str:
    """hello-there.wav"""
    words = re.findall(r"\w+", re.sub(r"\[[^\]]*\]|<\|[^|]*\|>", " ", text))[:5]
    return ("-".join(words).lower()[:40] or "speech") + ".wav"


class SoundSaver:
    """Asks for a name and writes the file from a job; `say(line)` tells of it on `screen`."""

    def __init__(self, screen: AppScreen, say: Callable[[str], None]):
        self._screen, self._say = screen, say

    def save(self, text: str, sound: Callable[[Job], SoundToSave], codes: bool = False) -> None:
        """`text`: what is said in it. `sound(job)` is called on the job's thread and may wait; `codes`: there are some
        to save too."""
        from .form import Field, Form

        fields = [Field("path", FILE, suggested_name(text))]
        if codes:
            fields.append(Field("codes", "the frames too, as .npy", False))
        app = self._screen.app
        studio, options = app.studio, app.settings.options()

        def save(values: dict | None) -> None:
            if values is None:
                return
            path = typed(values["path"])

            def work(job: Job) -> str:
                found = sound(job)
                from s2mlx.files import npy_bytes, write_bytes
                from s2mlx.results import corrected

                samples = corrected(found.samples, found.rate, options)
                studio.write_audio(path, samples, found.rate)
                if found.codes is not None:
                    for beside in _beside(values):
                        write_bytes(beside, npy_bytes(found.codes))
                length = figures.seconds(len(samples) / found.rate)
                return f"saved {path}" + (f": {length}, up to where the speech was stopped" if found.cut else "")

            saved = lambda line: tell(self._screen, self._say, line)
            app.jobs.start("save", work, done=saved, progressed=lambda share, note: app.notify(note, timeout=4))

        app.push_screen(Form("Save the sound", fields, "Save", writable(ENDINGS, _beside)), save)


def tell(screen: AppScreen, say: Callable[[str], None], line: str) -> None:
    """On `screen` by `say`; told even when it has been left meanwhile."""
    if screen in screen.app.screen_stack:
        say(line)
    else:
        screen.app.notify(line)


def _beside(values: dict) -> list[Path]:
    return [typed(values["path"]).with_suffix(".npy")] if values.get("codes") else []
