"""Sound that would be lost if something fails, kept in the autosave folder."""

from __future__ import annotations

import contextlib
import itertools
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import S2Error, reason
from .terminal import Console

if TYPE_CHECKING:
    import numpy as np


def keep(kind: str, samples: np.ndarray, rate: int) -> Path:
    """Write float32 [n] as WAV under a name of its own: `kind` and the time. S2Error or OSError when that fails."""
    from ..audio import write_audio
    from ..files import autosave_dir, private_folder

    folder = autosave_dir()
    private_folder(folder)
    stem = folder / time.strftime(f"{kind}-%Y%m%d-%H%M%S")
    names = itertools.chain([f"{stem}.wav"], (f"{stem}-{number}.wav" for number in itertools.count(2)))
    file = next(path for path in map(Path, names) if not path.exists())
    write_audio(file, samples, rate, private=True)
    return file


class KeptTake:
    """Keeps the last usable take of a recording until the voice made from it is saved.

    As a context manager: left without `forget`, it says which command makes the voice from what was kept.
    options: further words of that command, such as the model.
    """

    def __init__(self, name: str, options: list[str], console: Console):
        self._name, self._options, self._console = name, options, console
        self._path: Path | None = None
        self._text = ""

    def keep(self, samples: np.ndarray, rate: int, text: str) -> None:
        """Put a take (float32 [n]) and the words spoken in it in the place of the one before."""
        try:
            path = keep("record", samples, rate)
        except (S2Error, OSError) as fault:
            why = f"{fault.filename}: {reason(fault)}" if isinstance(fault, OSError) else fault
            self._console.warn(f"the recording is not on disk until the voice is saved: {why}")
            return
        self.forget()
        self._path, self._text = path, text

    def forget(self) -> None:
        """The take is not needed any more: its voice is saved, or another took its place."""
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
        self._path = None

    def __enter__(self) -> KeptTake:
        return self

    def __exit__(self, *_: object) -> None:
        if self._path is not None:
            words = " ".join(self._text.split())
            text = [f"--text={words}"] if words.startswith("-") else ["--text", words]
            command = ["s2mlx", "voice", "add", self._name, "--clip", str(self._path), *text, *self._options]
            self._console.warn(f"the recording is kept; make the voice from it with: {shlex.join(command)}")
