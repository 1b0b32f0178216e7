"""The words of a clip: heard, with how sure that is; or given, and checked against what is heard."""

from __future__ import annotations

import re
import warnings

import numpy as np

from ..errors import EarError
from .comparing import Difference, compare
from .ears import Ear, find_ear
from .heard import Heard

# Of synthetic clips, clean and with noise at 10 and 3 dB, those below had every fourth word wrong or more.
SURE = 0.75
_NAMED = 4  # differences that are told one by one
_ALL_FROM = 0.1  # share of wrong words from which single misheard ones are told as well


def hear_clip(ear: Ear, samples: np.ndarray, rate: float, what: str, language: str | None = None) -> Heard:
    """The words of a clip, float32 [n] at `rate` Hz, heard twice so that one knows how sure they are. what: what the
    clip is called. Raises `EarError` where there are none."""
    heard = ear.hear(samples, round(rate), language, twice=True)
    if not heard.text:
        raise EarError(f"no words were heard in {what}; give them, or another clip")
    return heard


def heard_words(samples: np.ndarray, rate: float) -> str:
    """The words of a clip for a program that has none: found with any recognizer there is. Words that were heard badly
    are warned of. Raises `EarError`."""
    ear = find_ear()
    try:
        heard = hear_clip(ear, samples, rate, "the clip")
    finally:
        ear.close()
    if doubt := unsure(heard):
        warnings.warn(f"the clip was {doubt}: {heard.text!r}", stacklevel=3)
    return heard.text


def unsure(heard: Heard) -> str | None:
    """What is to be said of words that were heard badly: noise, or another language than was taken for granted."""
    if heard.confidence is None or heard.confidence >= SURE:
        return None
    return f"heard badly (sure of {heard.confidence:.0%} of the words): read them closely, wrong words derail a voice"


def doubts(text: str, heard: Heard) -> str | None:
    """What differs between the words given for a clip and those heard in it, in one line; None if nothing that counts.

    Words that were heard for others are mostly the ear's own mistakes: they are told if there are many.
    """
    if not heard.text:
        return "none of its words was heard in it"
    found = compare(text, heard.text, heard.language)
    telling = [each for each in found.differences if found.rate > _ALL_FROM or _counts(each)]
    if not telling:
        return None
    more = f"; and {len(telling) - _NAMED} more" if len(telling) > _NAMED else ""
    return "; ".join(str(each) for each in telling[:_NAMED]) + more


def whole(text: str) -> bool:
    """Whether words end as a sentence does."""
    return re.search(r"[.!?…。！？]['\"”’)]*$", text.strip()) is not None


def _counts(difference: Difference) -> bool:
    """One small word more or less is soon misheard."""
    words = (difference.wanted or difference.heard).split()
    return difference.kind != "instead" and (len(words) > 1 or len(words[0].strip(".,;:!?")) > 3)
