"""How far a run came that was interrupted, kept in the folder of states until it is finished: for `--resume`."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import S2Error, UsageError, reason
from ..files import private_folder, state_dir, write_bytes
from ..listen import Cue
from ..options import KNOBS
from ..voices import SUFFIX, Voice

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

    def load(self, parts: Sequence[tuple[int, int]]) -> Reached | None:
        """None: nothing is known of such a run. parts: of the text, characters [begin, end) of each. Raises
        `UsageError` if the run was another, `S2Error` if what is known is damaged: what was spoken already shall not
        be overwritten for that."""
        try:
            if self._file.stat().st_size > _LARGEST:
                raise self._damaged(self._file)
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            digest = kept.pop("run")
            if not isinstance(digest, str):
                raise TypeError
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise S2Error(f"cannot read {self._file}, which knows how far this run came: {reason(fault)}") from fault
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as fault:
            raise self._damaged(self._file) from fault
        if digest != self._digest:
            raise UsageError(
                f"the run that wrote {self._output} had another text, voice, model or option; "
                "give the same, or leave --resume away to begin anew"
            )
        try:
            return _checked(Reached(**kept), parts)
        except (ValueError, TypeError, OverflowError, UsageError) as fault:
            raise self._damaged(self._file) from fault

    def _damaged(self, file: Path) -> S2Error:
        return S2Error(
            f"{file}, which knows how far {self._output} came, is damaged; to begin anew, which writes over what is "
            "there, leave --resume away"
        )

    def voice(self) -> Voice | None:
        """The voice of a run that was given none. Raises `S2Error` if it is damaged: the rest would have another."""
        try:
            return Voice.load(self._voice_file) if self._voice_file.exists() else None
        except (OSError, S2Error) as fault:
            raise self._damaged(self._voice_file) from fault

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


def _checked(reached: Reached, parts: Sequence[tuple[int, int]]) -> Reached:
    """What a file says, if it can be so; ValueError, TypeError, OverflowError or UsageError if not."""
    if not (_is(int, reached.part) and _is(int, reached.place) and _is(list, reached.cues)):
        raise TypeError
    lengths = [end - begin for begin, end in parts] + [0]  # behind the last, where all is done
    reached.seed = _whole(KNOBS["seed"].check(reached.seed))
    reached.seconds, cues = _seconds(reached.seconds), []
    for begin, end, text in reached.cues:
        if not _is(str, text):
            raise TypeError
        cues.append(Cue(_seconds(begin), _seconds(end), text))
    reached.cues = cues
    if not (0 <= reached.part < len(lengths) and 0 <= reached.place <= lengths[reached.part]):
        raise ValueError
    if (reached.place > 0) != (reached.seconds > 0):  # the file would be written over, or text be left out
        raise ValueError
    return reached


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _whole(value: Any) -> int:
    if not _is(int, value):
        raise TypeError
    return int(value)


def _seconds(value: Any) -> float:
    if not (_is(int, value) or _is(float, value)) or not 0 <= value < math.inf:
        raise ValueError
    return float(value)
