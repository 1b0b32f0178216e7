"""Which recognizer listens: by name, by what is installed, by language. None is imported before it is chosen."""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from ..errors import EarError, UsageError
from ..text.scripts import LANGUAGE_NAMES

if TYPE_CHECKING:
    import numpy as np

    from .heard import Heard

VARIABLE = "S2MLX_EAR"
NO_EAR = 'no recognizer is installed: pip install "s2mlx[ear]"'
_EUROPE = tuple("bg hr cs da nl en et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk".split())
# In the order of choice: the package it needs, the module and class of ours, the languages (None: any).
EARS: dict[str, tuple[str, str, tuple[str, ...] | None]] = {
    "moonshine": ("moonshine_voice", "moonshine.MoonshineEar", ("en",)),
    "parakeet": ("parakeet_mlx", "on_mlx.ParakeetEar", _EUROPE),
    "whisper": ("mlx_whisper", "on_mlx.WhisperEar", None),
}


_HOW = {
    "moonshine": 'pip install "s2mlx[ear]"',
    "parakeet": "pip install parakeet-mlx",
    "whisper": "pip install mlx-whisper",
}


class Ear(Protocol):
    """A loaded recognizer. To be used from one thread at a time; `close` lets its memory go."""

    name: str

    def hear(self, samples: np.ndarray, rate: int, language: str | None = None, twice: bool = False) -> Heard:
        """float32 [n] at `rate` Hz -> the words. language: of the speech, if known.

        twice: where the recognizer does not say how sure it is, it hears a second time, a little faster; the words that
        both times agree upon are the confidence. Raises `EarError`.
        """
        ...

    def close(self) -> None: ...


def find_ear(name: str | None = None, language: str | None = None) -> Ear:
    """The recognizer called `name` (or as S2MLX_EAR says), else the first installed one that knows the language.

    The name of one that fetches its model may have another one's after a colon: whisper:mlx-community/whisper-tiny.
    Raises `EarError` with one line that says how to get one, `UsageError` for an unknown name. "off" stands for none.
    """
    module, _, kind = _place(name, language).partition(".")
    model = (name or os.environ.get(VARIABLE) or "").partition(":")[2]
    ear: Ear = getattr(importlib.import_module(f".{module}", __package__), kind)(*[model] * bool(model))
    return ear


def check_ear(name: str | None = None, language: str | None = None) -> None:
    """Raises what `find_ear` would where there is none; loads nothing."""
    _place(name, language)


def _place(name: str | None, language: str | None) -> str:
    """The module and class of the recognizer that is to be used."""
    name, _, model = (name or os.environ.get(VARIABLE) or "").partition(":")
    if name == "off":
        raise EarError("listening is switched off (--ear off)")
    if name and name not in EARS:
        raise UsageError(f"no recognizer is called {name}: there are {', '.join(EARS)}, and off for none")
    if model and name == "moonshine":
        raise UsageError("moonshine has one model; leave the colon and what follows it out")
    installed = [each for each, (package, _, _) in EARS.items() if find_spec(package) is not None]
    if name and name not in installed:
        raise EarError(f"{name} is not installed: {_HOW[name]}")
    for each in [name] if name else installed:
        _, place, languages = EARS[each]
        if name or not language or languages is None or language in languages:
            return place
    if not installed:
        raise EarError(NO_EAR)
    spoken = LANGUAGE_NAMES.get(str(language), language)
    raise EarError(f"{' and '.join(installed)} knows no {spoken}; on a Mac: pip install mlx-whisper")
