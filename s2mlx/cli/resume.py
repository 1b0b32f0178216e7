"""How far a run came that was interrupted, kept in the folder of states until it is finished: for `--resume`."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ..errors import S2Error, UsageError
from ..files import private_folder, state_dir, write_bytes
from ..voices import SUFFIX, Voice
from .subtitles import Cue

_LARGEST = 64 << 20


@dataclasses.dataclass
class Reached:
    """part: its number from 0, as many as there are when all is done. place: characters of it that were spoken.
    seconds, cues: of its sound so far. seed: of the run."""

    seed: int
    part: int = 0
    place: int = 0
    seconds: float = 0.0
    cues: list[Cue] = dataclasses.field(default_factory=list)


class RunProgress:
    """Of the run that writes `output`. run: all that must be the same for it to go on."""

    def __init__(self, output: str, run: dict[str, Any]):
        self._output = output
        self._digest = hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()
        name = hashlib.sha256(os.path.realpath(output).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._file = state_dir() / "unfinished" / f"{name}.json"

    @property
    def _voice_file(self) -> Path:
        return self._file.with_suffix(SUFFIX)

    def load(self) -> Reached | None:
        """None: nothing is known of such a run. Raises `UsageError` if it was another."""
        try:
            if self._file.stat().st_size > _LARGEST:
                return None
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            digest, reached = kept.pop("run"), Reached(**kept)
            reached.cues = [Cue(*cue) for cue in reached.cues]
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        if digest != self._digest:
            raise UsageError(
                f"the run that wrote {self._output} had another text, voice, model or option; "
                "give the same, or leave --resume away to begin anew"
            )
        return reached

    def voice(self) -> Voice | None:
        """The voice of a run that was given none."""
        with contextlib.suppress(S2Error):
            return Voice.load(self._voice_file) if self._voice_file.exists() else None
        return None

    def save(self, reached: Reached, voice: Voice | None = None) -> bool:
        """False if it cannot be kept; the run itself is none the worse."""
        try:
            private_folder(self._file.parent)
            if self._is_of_another():
                self.forget()
            if voice is not None:
                voice.save(self._voice_file)
            data = dataclasses.asdict(reached) | {"run": self._digest}
            write_bytes(self._file, json.dumps(data).encode(), private=True)
        except (OSError, S2Error):
            return False
        return True

    def _is_of_another(self) -> bool:
        """Whether what is kept, its voice with it, is of a run that was not this one."""
        try:
            kept = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return True
        return not isinstance(kept, dict) or kept.get("run") != self._digest

    def forget(self) -> None:
        for file in (self._file, self._voice_file):
            with contextlib.suppress(OSError):
                file.unlink()
