"""Saving sound to a file the user names: shared by the main screen and the history."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .form import Field, Form

ENDINGS = (".wav", ".flac", ".mp3", ".ogg", ".opus")


def suggested_name(text: str) -> str:
    """hello-there.wav"""
    words = re.findall(r"\w+", re.sub(r"\[[^\]]*\]|<\|[^|]*\|>", " ", text))[:5]
    return ("-".join(words).lower()[:40] or "speech") + ".wav"


def path_check(endings: tuple[str, ...]) -> Callable[[dict], str]:
    """A check for forms with a `path`: known ending, existing folder, and a second Enter to replace a file."""
    warned: set[Path] = set()

    def check(values: dict) -> str:
        path = Path(values["path"]).expanduser()
        if not values["path"].strip():
            return "a file name is needed"
        if path.suffix.lower() not in endings:
            return f"the name must end in {', '.join(endings)}"
        if not path.absolute().parent.is_dir():
            return f"there is no folder {path.absolute().parent}"
        if path.is_dir():
            return f"{path} is a folder"
        if path.exists() and path not in warned:
            warned.add(path)
            return f"{path.name} exists: accept once more to replace it"
        return ""

    return check


class Saving:
    """For screens that `say` things: asks for a name and writes the file from a job."""

    def action_save(self) -> None:
        made = self.made
        if made is None or not made.samples:
            self.status.say("nothing to save yet: ^s speaks the text")
            return
        self.save_sound(made.request.text, lambda: (made.whole(), made.rate), made.all_codes() if made.codes else None)

    def save_sound(
        self, text: str, sound: Callable[[], tuple[np.ndarray, int]], codes: np.ndarray | None = None
    ) -> None:
        """`sound()` -> samples float32 [n], rate; called from a job. `codes`: int32 [num_codebooks, frames]."""
        fields = [
            Field("path", "File: its ending decides the format (wav, flac, mp3, ogg, opus)", suggested_name(text))
        ]
        if codes is not None:
            fields.append(Field("codes", "the frames too, as .npy", False))
        settings = self.app.settings

        def save(values: dict | None) -> None:
            if values is None:
                return
            path = Path(values["path"]).expanduser()

            def work(job) -> Path:
                samples, rate = sound()
                samples = self.app.studio.finished(samples, rate, trim=settings.trim, normalize=settings.normalize)
                self.app.studio.write_audio(path, samples, rate)
                if values.get("codes"):
                    np.save(path.with_suffix(".npy"), codes)
                return path

            self.app.jobs.start("save", work, done=lambda path: self.say(f"saved {path}"))

        self.app.push_screen(Form("Save the sound", fields, "Save", path_check(ENDINGS)), save)
