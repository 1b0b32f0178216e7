"""`Studio` made of s2mlx on this machine. Heavy modules load with the call that needs one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from .. import figures
from .loudspeaker import LentOutput, Loudspeaker
from .protocols import SoundFile, SoundInput, SpeechEngine, TakeVerdict

if TYPE_CHECKING:
    import numpy as np

    from s2mlx.voices import VoiceLibrary

    from .hearing import HeardTake
    from .levels import Levels
    from .model_offers import ModelOffer

LEVEL_RATE = 44100  # Hz
BEFORE, AFTER = 0.1, 0.35  # seconds of quiet around the speech of a reference
PAUSE = 0.1  # seconds; shorter is a part of a word


class LocalStudio:
    def __init__(self, library: VoiceLibrary | None = None):
        self._library = library
        self._loudspeaker = Loudspeaker(_open_player)

    @property
    def library(self) -> VoiceLibrary:
        from s2mlx.voices import VoiceLibrary

        if self._library is None:
            self._library = VoiceLibrary()
        return self._library

    def load(
        self,
        model: str | None,
        *,
        tokenizer: str | None,
        compat: str | None,
        memory_limit: int | None,
        on_progress: Callable[[float], None],
    ) -> SpeechEngine:
        import s2mlx

        tts = s2mlx.load(
            model,
            tokenizer=tokenizer,
            compat=compat,
            memory_limit=memory_limit,
            on_progress=lambda done, total: on_progress(done / total),
        )
        tts.warm_up()  # now, and not while the first sentence is waited for
        return tts

    def model_facts(self, model: str | None) -> str:
        from s2mlx.weights import describe, find_model, open_checkpoint

        found = find_model(model)
        with open_checkpoint(found.path) as checkpoint:
            facts = describe(checkpoint)
        memory = facts["memory"]
        return (
            f"{facts['name']} needs about {figures.size(memory['needed'])} of memory, "
            f"{figures.size(memory['weights'])} of them weights ({found.path})"
        )

    def model_offers(self) -> list[ModelOffer]:
        from .model_offers import offers

        return offers()

    def fetch_model(self, name: str, progress: Callable[[int, int], None]) -> None:
        from s2mlx.weights import fetch_model

        fetch_model(name, _Quiet(), progress)

    def direct(self, text: str, progress: Callable[[int, int], None], cancel: Event) -> str:
        from s2mlx.language import direct

        return direct(text, on_progress=progress, cancel=cancel)

    def memory(self) -> int:
        from s2mlx.weights import machine_memory

        return machine_memory()

    def devices(self) -> Sequence[Any]:
        from s2mlx.audio import list_devices

        return list_devices()

    def open_output(self, rate: int, device: str | None, prebuffer: float | None) -> LentOutput:
        return self._loudspeaker.lend(rate, device, prebuffer or 0.0)

    def open_input(self, rate: int, device: str | None) -> SoundInput:
        from s2mlx.audio import Recorder

        return Recorder(rate, device)

    def open_level(self, device: str | None) -> SoundInput:
        return self.open_input(LEVEL_RATE, device)

    def judge_take(self, samples: np.ndarray, rate: int) -> TakeVerdict:
        from s2mlx.audio import Take, check

        return check(Take.of(samples, rate))

    def hear_take(self, samples: np.ndarray, rate: int, words: str, language: str) -> HeardTake | None:
        from .hearing import hear

        return hear(samples, rate, words, language)

    def ear_hint(self, language: str) -> str:
        from .hearing import ear_hint

        return ear_hint(language)

    def levels(self, samples: np.ndarray, rate: int) -> Levels:
        from s2mlx.audio import noise_floor_db, speech_db

        from .levels import Levels, peak_db

        return Levels(speech_db(samples, rate), noise_floor_db(samples, rate), peak_db(samples))

    def quiet_spans(self, samples: np.ndarray, rate: int) -> list[tuple[float, float]]:
        import numpy as np

        from s2mlx.audio import SHORT_FRAME

        quiet = np.concatenate([[False], ~_loud(samples, rate), [False]])
        edges = np.flatnonzero(np.diff(quiet)).reshape(-1, 2) * SHORT_FRAME
        seconds = len(samples) / rate
        return [(float(b), min(seconds, float(e))) for b, e in edges if e - b >= PAUSE]

    def silence_hint(self) -> str:
        from s2mlx.audio import silence_hint

        return silence_hint()

    def speech_in(self, samples: np.ndarray, rate: int) -> tuple[float, float]:
        begin, end = _speech(samples, rate)
        seconds = len(samples) / rate
        return (max(0.0, begin - BEFORE), min(seconds, end + AFTER)) if end > begin else (0.0, seconds)

    def with_margin(self, samples: np.ndarray, rate: int) -> np.ndarray:
        import numpy as np

        quiet = len(samples) / rate - _speech(samples, rate)[1]
        missing = max(0, round((AFTER - quiet) * rate))
        return np.concatenate([samples, np.zeros(missing, np.float32)]) if missing else samples

    def read_audio(self, path: Path, rate: int) -> np.ndarray:
        from s2mlx.audio import read_audio

        return read_audio(path, rate)

    def write_audio(self, path: Path, samples: np.ndarray, rate: int, *, private: bool = False) -> None:
        from s2mlx.audio import write_audio

        write_audio(path, samples, rate, private=private)

    def open_sound(self, path: Path, rate: int) -> AbstractContextManager[SoundFile]:
        from s2mlx.audio import AudioWriter

        return AudioWriter(path, rate)

    def reveal(self, path: Path) -> bool:
        program = ["open", "-R", str(path)] if sys.platform == "darwin" else ["xdg-open", str(path.parent)]
        if shutil.which(program[0]) is None or (sys.platform != "darwin" and not _has_windows()):
            return False
        subprocess.Popen(
            program,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return True

    def sentences(self, text: str) -> list[tuple[int, int]]:
        from s2mlx.text import split_sentences

        return split_sentences(text)

    def estimate_seconds(self, text: str) -> float:
        from s2mlx.text import estimate_seconds

        return estimate_seconds(text)

    def close(self) -> None:
        self._loudspeaker.close()


class _Quiet:
    """Hears how a download goes, and says nothing: the screen shows its progress."""

    def asks(self, repository: str) -> None: ...

    def begins(self, what: str, nbytes: int) -> None: ...

    def warns(self, line: str) -> None: ...


def _open_player(rate: int, device: str | None) -> Any:
    from s2mlx.audio import Player

    return Player(rate, device)


def _speech(samples: np.ndarray, rate: int) -> tuple[float, float]:
    """Seconds [begin, end) from the first to the last syllable; both 0 without speech."""
    import numpy as np

    from s2mlx.audio import SHORT_FRAME

    above = np.flatnonzero(_loud(samples, rate))
    return (
        (above[0] * SHORT_FRAME, min(len(samples) / rate, (above[-1] + 1) * SHORT_FRAME)) if len(above) else (0.0, 0.0)
    )


def _loud(samples: np.ndarray, rate: int) -> np.ndarray:
    """Which short frames hold speech: bool [frames]."""
    from s2mlx.audio import frame_levels, noise_floor_db, speech_db

    floor, loud = noise_floor_db(samples, rate), speech_db(samples, rate)
    return frame_levels(samples, rate) > floor + max(3.0, (loud - floor) / 3)


def _has_windows() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
