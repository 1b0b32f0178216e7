"""Saving sound to a file the user names: shared by the main screen and the history."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2mlx.files import npy_bytes, write_bytes

from .. import figures
from ..jobs import Job
from ..paths import typed, writable
from .form import Field, Form

ENDINGS = (".wav", ".flac", ".mp3", ".ogg", ".opus")


@dataclass(frozen=True)
class Sound:
    """What is to be saved: samples float32 [n], codes int32 [num_codebooks, frames] if there are any. `cut`: the speech
    was stopped, or failed, before its end."""

    samples: np.ndarray
    rate: int
    codes: np.ndarray | None = None
    cut: bool = False


def suggested_name(text: str) -> str:
    """hello-there.wav"""
    words = re.findall(r"\w+", re.sub(r"\[[^\]]*\]|<\|[^|]*\|>", " ", text))[:5]
    return ("-".join(words).lower()[:40] or "speech") + ".wav"


class Saving:
    """For screens that `say` things: asks for a name and writes the file from a job."""

    def save_sound(self, text: str, sound: Callable[[Job], Sound], codes: bool = False) -> None:
        """`sound(job)` is called on the job's thread and may wait; `codes`: there are some to save too."""
        fields = [
            Field("path", "File: its ending decides the format (wav, flac, mp3, ogg, opus)", suggested_name(text))
        ]
        if codes:
            fields.append(Field("codes", "the frames too, as .npy", False))
        studio, settings = self.app.studio, self.app.settings

        def save(values: dict | None) -> None:
            if values is None:
                return
            path = typed(values["path"])

            def work(job: Job) -> str:
                found = sound(job)
                samples = studio.finished(found.samples, found.rate, trim=settings.trim, normalize=settings.normalize)
                studio.write_audio(path, samples, found.rate)
                for beside in _beside(values):
                    write_bytes(beside, npy_bytes(found.codes))
                length = figures.seconds(len(samples) / found.rate)
                return f"saved {path}" + (f": {length}, up to where the speech was stopped" if found.cut else "")

            self.app.jobs.start(
                "save", work, done=self._saved, progressed=lambda share, note: self.app.notify(note, timeout=4)
            )

        self.app.push_screen(Form("Save the sound", fields, "Save", writable(ENDINGS, _beside)), save)

    def _saved(self, line: str) -> None:
        """Told even when the screen has been left meanwhile."""
        if self in self.app.screen_stack:
            self.say(line)
        else:
            self.app.notify(line)


def _beside(values: dict) -> list[Path]:
    return [typed(values["path"]).with_suffix(".npy")] if values.get("codes") else []
