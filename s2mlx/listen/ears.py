"""Which recognizer listens: by name, by what is installed, by language. None is imported before it is chosen."""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from ..errors import EarError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from .heard import Heard

VARIABLE = "S2MLX_EAR"
NO_EAR = 'no recognizer is installed: pip install "s2mlx[ear]"'
# In the order of choice: the package it needs, the module and class of ours, the languages (None: any).
EARS: dict[str, tuple[str, str, tuple[str, ...] | None]] = {
    "moonshine": ("moonshine_voice", "moonshine.MoonshineEar", ("en",)),
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

    Raises `EarError` with one line that says how to get one, `UsageError` for an unknown name. "off" stands for none.
    """
    module, _, kind = _place(name, language).partition(".")
    ear: Ear = getattr(importlib.import_module(f".{module}", __package__), kind)()
    return ear


def check_ear(name: str | None = None, language: str | None = None) -> None:
    """Raises what `find_ear` would where there is none; loads nothing."""
    _place(name, language)


def _place(name: str | None, language: str | None) -> str:
    """The module and class of the recognizer that is to be used."""
    name = name or os.environ.get(VARIABLE) or None
    if name == "off":
        raise EarError("listening is switched off (--ear off)")
    if name is not None and name not in EARS:
        raise UsageError(f"no recognizer is called {name}: there are {', '.join(EARS)}")
    for each, (package, place, languages) in EARS.items():
        if name not in (None, each) or (name is None and language and languages and language not in languages):
            continue
        if find_spec(package) is not None:
            return place
        if name is not None:
            raise EarError(f'{name} is not installed: pip install "s2mlx[ear]"')
    raise EarError(NO_EAR)
