"""Whose turn it is on the one thread: the model that writes, or the one that speaks.

The voice comes first: writing goes on while there is sound ahead of the listener to do it in, or when the voice has
nothing left to say. The first words wait until there are enough whole sentences for the voice to speak while a long one
is written. Knows seconds and text only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..text import estimate_seconds, split_sentences

PATIENCE = 10.0  # seconds in which the text does not grow: its writer waits for its turn, and goes on
# Seconds of sound.
_FIRST = 2.5  # in whole sentences, before the voice begins: in half of it fifty tokens can be written
_TURN = 1.5  # ahead of the listener: the writer gets a turn
_RESERVE = 1.0  # ahead of the listener: it ends; the largest piece of sound takes less to make
_ENOUGH = 20.0  # written and not begun to be spoken: more is needed by nobody
_ENOUGH_UNHEARD = 300.0  # the same where nobody listens, and several passes are made at once


class Turns:
    """lead: seconds of sound the listener still has, as for `Synthesizer.stream`; None where nobody listens."""

    def __init__(self, lead: Callable[[], float] | None, rate: float = 1.0):
        self._lead, self._rate = lead, rate
        self._text, self._spoken = "", 0
        self._begun = False

    def wrote(self, text: str) -> None:
        """More text for the voice."""
        self._text += text
        if not self._begun:
            sentences = split_sentences(self._text)
            whole = sentences[-1][0] if sentences else 0  # the last one may go on
            self._begun = self._seconds(self._text[:whole]) >= self._enough_to_begin

    def spoke(self, end: int) -> None:
        """The voice is about to say what stands before this character."""
        self._spoken = max(self._spoken, end)

    def goes_on(self) -> bool:
        """Asked after each token: does the writer write another?"""
        if not self._begun:
            return True
        return not self._has_enough and self._ahead > _RESERVE

    def gets_a_turn(self) -> bool:
        """Asked between two pieces of sound: may the writer write now?"""
        return not self._has_enough and self._ahead > _TURN

    @property
    def _ahead(self) -> float:
        return math.inf if self._lead is None else self._lead()

    @property
    def _enough_to_begin(self) -> float:
        return 0.0 if self._lead is None else _FIRST

    @property
    def _has_enough(self) -> bool:
        enough = _ENOUGH_UNHEARD if self._lead is None else _ENOUGH
        return self._seconds(self._text[self._spoken :]) > enough

    def _seconds(self, text: str) -> float:
        return estimate_seconds(text) / self._rate
