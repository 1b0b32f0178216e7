"""What the app needs of the outside world, as protocols: the engine, the sound devices, audio files.

`local.py` fills them with s2mlx; the tests fill them with fakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from s2mlx.options import Options
from s2mlx.results import AudioChunk

if TYPE_CHECKING:
    import numpy as np

    from s2mlx import SpeechInput
    from s2mlx.text import Span

    from .hearing import HeardTake
    from .levels import Levels
    from .model_offers import ModelOffer


class SpeechEngine(Protocol):
    """A loaded model. Callable from any thread; `cancel` is looked at every frame."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> Any: ...

    @property
    def config(self) -> Any:
        """.dialogue: made for dialogues with stage directions, not for plain reading."""

    @property
    def sample_rate(self) -> int: ...

    @property
    def is_demo(self) -> bool: ...

    @property
    def memory(self) -> int:
        """Bytes of weights."""

    def stream(
        self,
        text: str | SpeechInput,
        *,
        voice: Any = None,
        options: Options | None = None,
        cancel: Event | None = None,
        lead: Callable[[], float] | None = None,
    ) -> Iterator[AudioChunk]: ...

    def stream_each(
        self,
        texts: Sequence[tuple[str, int]],
        *,
        voice: Any = None,
        options: Options | None = None,
        cancel: Event | None = None,
        lead: Callable[[], float] | None = None,
        follow: bool = False,
    ) -> Iterator[tuple[int, AudioChunk]]:
        """Several texts, each with its seed, in one batch; `follow`: they are the parts of one."""

    def plan(self, text: str) -> Sequence[Span]:
        """The passes in which a text will be spoken. Raises UsageError for one without words."""

    def clone(self, clip: Any, transcript: str, *, name: str = "", cancel: Event | None = None) -> Any: ...

    def close(self) -> None: ...


class SoundOutput(Protocol):
    """Where sound is played. `play` queues and returns at once; `position` and `lead` are seconds heard and waiting."""

    @property
    def position(self) -> float: ...

    @property
    def lead(self) -> float: ...

    @property
    def prebuffer(self) -> float:
        """Seconds that must be there before sound starts."""

    @property
    def underruns(self) -> int: ...

    @property
    def error(self) -> Exception | None: ...

    @property
    def device_name(self) -> str | None:
        """Once it is open."""

    @property
    def paused(self) -> bool: ...

    def play(self, samples: np.ndarray) -> None: ...

    def set_rtf(self, rtf: float, expected_seconds: float | None) -> None: ...

    def finish(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def wait(self, timeout: float | None = None) -> bool: ...

    def stop(self) -> None: ...


class RecordedTake(Protocol):
    """A recording: samples float32 [n]."""

    @property
    def samples(self) -> np.ndarray: ...

    @property
    def rate(self) -> int: ...


class SoundInput(Protocol):
    """A microphone that is open, and keeps what it hears."""

    @property
    def seconds(self) -> float: ...

    @property
    def clipped(self) -> int: ...

    @property
    def error(self) -> Exception | None: ...

    @property
    def silent(self) -> bool:
        """Half a second and more of exact zeros and nothing else."""

    @property
    def level(self) -> Any: ...  # .peak and .rms, dBFS of the last moment

    def start(self) -> None: ...

    def recorded(self, begin: int = 0) -> tuple[np.ndarray, float]:
        """What was heard so far from sample `begin` on, float32 [n], and its rate in Hz, which is the device's."""

    def stop(self) -> RecordedTake: ...


class TakeVerdict(Protocol):
    """Whether a take will do as a reference, and what is wrong with it in words."""

    @property
    def ok(self) -> bool:
        """There are no problems at all."""

    @property
    def usable(self) -> bool:
        """None of them forbids the take."""

    @property
    def problems(self) -> Sequence[str]: ...


class SoundFile(Protocol):
    def write(self, samples: np.ndarray) -> None: ...


class Studio(Protocol):
    """Everything outside the app. Calls may block: the app makes them on a job's thread, except where noted."""

    @property
    def library(self) -> Any:
        """S2mlx.VoiceLibrary."""

    def load(
        self,
        model: str | None,
        *,
        tokenizer: str | None,
        compat: str | None,
        memory_limit: int | None,
        on_progress: Callable[[float], None],
    ) -> SpeechEngine:
        """`on_progress(fraction)` is called while loading; what it raises ends the loading."""

    def model_facts(self, model: str | None) -> str:
        """One line on a model file: what it is and what it needs in memory."""

    def model_offers(self) -> Sequence[ModelOffer]:
        """The models on this machine, and those that can be fetched."""

    def fetch_model(self, name: str, progress: Callable[[int, int], None]) -> None:
        """Fetch a model; `progress(bytes there, bytes in all)` is called meanwhile, and what it raises ends that."""

    def direct(self, text: str, progress: Callable[[int, int], None], cancel: Event) -> str:
        """The text with stage directions by a language model; `progress(characters done, characters in all)`."""

    def memory(self) -> int:
        """Bytes of memory of this machine."""

    def devices(self) -> Sequence[Any]: ...

    def open_output(self, rate: int, device: str | None, prebuffer: float | None) -> SoundOutput:
        """An open output. `prebuffer`: seconds to hold back before it sounds; None sizes it from the measured speed."""

    def open_input(self, rate: int, device: str | None) -> SoundInput: ...

    def open_level(self, device: str | None) -> SoundInput:
        """A microphone whose level is looked at before a recording."""

    def judge_take(self, samples: np.ndarray, rate: int) -> TakeVerdict:
        """Whether a take, samples float32 [n], will do as a reference."""

    def hear_take(self, samples: np.ndarray, rate: int, words: str, language: str) -> HeardTake | None:
        """What a recognizer makes of a take, float32 [n], that should say `words`; None without one."""

    def ear_hint(self, language: str) -> str:
        """How to get a recognizer of that language; empty where there is one."""

    def levels(self, samples: np.ndarray, rate: int) -> Levels:
        """How loud samples float32 [n] are."""

    def quiet_spans(self, samples: np.ndarray, rate: int) -> list[tuple[float, float]]:
        """The pauses of a take, in seconds [begin, end), where nothing is said; its two ends among them."""

    def silence_hint(self) -> str:
        """What to do when a microphone gives nothing but zeros."""

    def speech_in(self, samples: np.ndarray, rate: int) -> tuple[float, float]:
        """Where the speech of a take lies, in seconds [begin, end), with a little around it."""

    def with_margin(self, samples: np.ndarray, rate: int) -> np.ndarray:
        """The samples with enough silence at the end: a tight cut swallows the last word of what the voice speaks."""

    def read_audio(self, path: Path, rate: int) -> np.ndarray: ...

    def write_audio(self, path: Path, samples: np.ndarray, rate: int, *, private: bool = False) -> None: ...

    def open_sound(self, path: Path, rate: int) -> AbstractContextManager[SoundFile]:
        """A file of sound, written piece by piece, whole or not at all. Raises AudioError."""

    def reveal(self, path: Path) -> bool:
        """Show a file or folder in the system's own window; False where there is none."""

    def sentences(self, text: str) -> list[tuple[int, int]]:
        """Characters [begin, end) of each sentence."""

    def estimate_seconds(self, text: str) -> float: ...

    def close(self) -> None:
        """Give the devices back."""
