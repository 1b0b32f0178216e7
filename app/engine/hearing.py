"""What a recognizer makes of a take, beside the words that were to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_FREELY = 0.5  # share of wrong words from which it was not the sentence that was read
_LEAST = 3  # words: a cough is no speech


@dataclass(frozen=True)
class HeardTake:
    """text: what was heard; freely: other words than those on the card were spoken; wrong: characters [begin, end) of
    the card's words that were not heard so; doubt: what is to be said of it, empty if it was heard word for word."""

    text: str
    freely: bool = False
    wrong: tuple[tuple[int, int], ...] = ()
    doubt: str = ""


def hear(samples: np.ndarray, rate: int, words: str, language: str) -> HeardTake | None:
    """A take, float32 [n], that should say `words`. None where no recognizer of that language is installed, or it hears
    nothing."""
    from s2mlx.errors import EarError
    from s2mlx.listen import compare, find_ear, unsure

    try:
        ear = find_ear(language=language)
        try:
            heard = ear.hear(samples, rate, language, twice=True)
        finally:
            ear.close()
        found = compare(words, heard.text, language)
    except EarError:
        return None
    if not heard.text:
        return None
    said = len(heard.text.split())
    if found.rate > _FREELY and said >= _LEAST:
        return HeardTake(heard.text, freely=True, doubt="heard badly" if unsure(heard) else "")
    wrong = tuple(each.span for each in found.differences if each.span[0] < each.span[1])
    return HeardTake(heard.text, False, wrong, "; ".join(str(each) for each in found.differences[:2]))


def ear_hint(language: str) -> str:
    """How to get a recognizer of that language; empty where there is one."""
    from s2mlx.errors import S2Error
    from s2mlx.listen import check_ear

    try:
        check_ear(language=language)
    except S2Error as fault:
        return str(fault)
    return ""
