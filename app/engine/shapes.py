"""What the app works with, as shapes: the engine, the devices, the voices, the files.

The app knows these protocols only. `studio.py` fills them with s2mlx; tests fill them with fakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any, Protocol

import numpy as np

from s2mlx.options import Options
from s2mlx.results import AudioChunk


class Synthesizer(Protocol):
    """A loaded model. Callable from any thread; `cancel` is looked at every frame."""

    name: str
    path: Any
    config: Any  # .dialogue: made for dialogues with stage directions, not for plain reading
    sample_rate: int
    is_demo: bool
    memory: int  # bytes of weights

    def stream(
        self,
        text: str,
        *,
        voice: Any = None,
        options: Options | None = None,
        cancel: Event | None = None,
        lead: Callable[[], float] | None = None,
    ) -> Iterator[AudioChunk]: ...

    def clone(self, clip: Any, transcript: str, *, name: str = "", cancel: Event | None = None) -> Any: ...

    def close(self) -> None: ...


class Player(Protocol):
    """An output stream. `play` queues and returns at once; `position` and `lead` are seconds played and buffered."""

    position: float
    lead: float
    prebuffer: float  # seconds that must be there before sound starts
    underruns: int
    error: Exception | None
    device_name: str | None  # once it is open
    paused: bool

    def play(self, samples: np.ndarray) -> None: ...

    def set_rtf(self, rtf: float, expected_seconds: float | None) -> None: ...

    def finish(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def wait(self, timeout: float | None = None) -> bool: ...

    def stop(self) -> None: ...


class Take(Protocol):
    """A recording: samples float32 [n]."""

    samples: np.ndarray
    rate: int


class Recorder(Protocol):
    """An input stream that keeps what it hears."""

    seconds: float
    clipped: int
    error: Exception | None
    silent: bool  # half a second and more of exact zeros and nothing else

    @property
    def level(self) -> Any: ...  # .peak and .rms, dBFS of the last moment

    def start(self) -> None: ...

    def recorded(self, begin: int = 0) -> tuple[np.ndarray, float]:
        """What was heard so far from sample `begin` on, float32 [n], and its rate in Hz, which is the device's."""

    def stop(self) -> Take: ...


class Verdict(Protocol):
    """Whether a take will do as a reference, and what is wrong with it in words."""

    ok: bool  # there are no problems at all
    usable: bool  # none of them forbids the take
    problems: Sequence[str]


class Studio(Protocol):
    """Everything outside the app. Calls may block: the app makes them on a job's thread, except where noted."""

    library: Any  # s2mlx.VoiceLibrary

    def load(
        self,
        model: str | None,
        *,
        tokenizer: str | None,
        compat: str | None,
        memory_limit: int | None,
        on_progress: Callable[[float], None],
    ) -> Synthesizer:
        """`on_progress(fraction)` is called while loading; what it raises ends the loading."""

    def model_facts(self, model: str | None) -> str:
        """One line on a model file: what it is and what it needs in memory."""

    def devices(self) -> Sequence[Any]: ...

    def player(self, rate: int, device: str | None, prebuffer: float | None) -> Player:
        """An open output. `prebuffer`: seconds to hold back before it sounds; None sizes it from the measured speed."""

    def recorder(self, rate: int, device: str | None) -> Recorder: ...

    def check(self, samples: np.ndarray, rate: int) -> Verdict:
        """Judge a take, samples float32 [n], as a reference."""

    def silence_hint(self) -> str:
        """What to do when a microphone gives nothing but zeros."""

    def speech_in(self, samples: np.ndarray, rate: int) -> tuple[float, float]:
        """Where the speech of a take lies, in seconds [begin, end), with a little around it."""

    def with_margin(self, samples: np.ndarray, rate: int) -> np.ndarray:
        """The samples with enough silence at the end: a tight cut swallows the last word of what the voice speaks."""

    def read_audio(self, path: Path, rate: int) -> np.ndarray: ...

    def write_audio(self, path: Path, samples: np.ndarray, rate: int) -> None: ...

    def finished(self, samples: np.ndarray, rate: int, *, trim: bool, normalize: bool) -> np.ndarray:
        """Samples as a saved file holds them: trailing silence cut, the peak scaled, as asked."""

    def load_voice(self, path: Path) -> Any: ...

    def sentences(self, text: str) -> list[tuple[int, int]]:
        """Characters [begin, end) of each sentence."""

    def estimate_seconds(self, text: str) -> float: ...

    def close(self) -> None:
        """Give the devices back."""
