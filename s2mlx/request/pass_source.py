"""Where the passes of a request come from: a text that is all there, or one that is still being written."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby

from ..errors import UsageError
from ..speech_input import SpeechInput
from ..text.arriving import ArrivingText, Haste, Said
from ..text.words import has_words
from ..worker import Aside
from .passes import NOTHING_TO_SAY, PlannedPass

# A writer that still writes gets a moment before the first sentence is spoken, so that a text that comes at once, in
# pieces or not, is planned as a whole.
SETTLED = 0.03  # seconds without a write: it waits
LONGEST_SETTLING = 0.1  # seconds since there was something to say
LINE_PAUSE = 0.1  # seconds without a write behind what looks like the end of a sentence
_MOST_KNOWN = 8  # passes of a text that goes on: planning an hour of it would keep the first sound waiting
_MOST_AHEAD = 100_000  # characters that are planned at most; what else was written waits with its writer


class PassSource:
    """The passes of a text that is all there.

    known: those whose turn comes, in order; who begins one takes it from there. parts: how many there were so far.
    dialogue: whether the text names speakers. place: characters of the text that are planned."""

    def __init__(self, passes: Iterable[PlannedPass] = ()):
        self.known = deque(passes)
        self.parts = len(self.known)
        self.dialogue = any(one.speaker is not None for one in self.known)
        self.place = self.known[-1].span[1] if self.known else 0

    def look(self) -> None:
        """Add the passes that became known meanwhile. Never waits."""

    def hurry(self) -> Aside | None:
        """Add a pass of what there is, as nothing else is left to do. None: there is one, or the text has ended;
        otherwise it has to be waited for. Raises the error with which its writer ended the text."""
        return None

    def pause_after(self, planned: PlannedPass) -> bool:
        """Whether a pause follows, asked at the end of the pass."""
        return planned.pause_after

    def leave(self) -> None:
        """The request has ended."""


class ArrivingPasses(PassSource):
    """Those of a text that is being written. max_seconds, can_say: as for `plan_passes`."""

    def __init__(self, text: SpeechInput, max_seconds: float, can_say: Callable[[str], bool] = has_words):
        super().__init__()
        self._input, self._can_say = text, can_say
        self._text = ArrivingText(max_seconds)
        self._fault: BaseException | None = None
        self._silent = False  # what cannot be said stands before the next pass
        self._after_silence: set[int] = set()  # numbers of passes before which it stood, when theirs had begun
        self._since: float | None = None  # when text was there first that nobody speaks yet

    @property
    def _ended(self) -> bool:
        return self._text.finished

    def look(self) -> None:
        self._read()
        while (self._text.ended or len(self.known) < _MOST_KNOWN) and (said := self._text.certain()):
            for one in said:
                self._plan(one)

    def _read(self) -> None:
        if self._text.ended or len(self._text) >= _MOST_AHEAD:
            return
        came = self._input.take()
        for is_text, pieces in groupby(came.pieces, key=lambda piece: piece is not None):
            if is_text:
                self._text.add("".join(piece for piece in pieces if piece is not None))
            else:
                self._text.flush()
        if came.ended:
            self._fault = came.fault
            self._text.end() if came.fault is None else self._text.fail()

    def _plan(self, said: Said) -> None:
        span, words = said
        self.place = span.end
        if not self._can_say(words):
            self._silent = True
            return
        if self._silent and self.known:
            self.known[-1] = replace(self.known[-1], pause_after=True)
        elif self._silent:
            self._after_silence.add(self.parts)
        self._silent = False
        self.known.append(PlannedPass(self.parts, words, (span.begin, span.end), span.pause_after, span.speaker))
        self.parts += 1
        self.dialogue |= span.speaker is not None

    def hurry(self) -> Aside | None:
        self.look()
        while not (self.known or self._ended) and (said := self._early()) is not None:
            self._plan(said)
        if self.known:
            self._since = None
            return None
        if not self._ended:
            return Aside(self._input.call_when_changed, self._seconds())
        if self._fault is not None:
            raise self._fault
        if not self.parts:
            raise UsageError(NOTHING_TO_SAY)
        return None

    def _early(self) -> Said | None:
        if not len(self._text):
            self._since = None
            return None
        self._since = self._since or time.monotonic()
        quiet = self._input.quiet
        if quiet >= max(self._input.patience, LINE_PAUSE):
            return self._text.early(Haste.CLAUSE)
        if quiet >= LINE_PAUSE:
            return self._text.early(Haste.LINE)
        if quiet >= SETTLED or time.monotonic() - self._since >= LONGEST_SETTLING:
            return self._text.early(Haste.SENTENCE)
        return None

    def _seconds(self) -> float | None:
        """How long until a silence of the writer allows more."""
        if self._since is None:
            return None
        quiet = self._input.quiet
        waits = [step - quiet for step in (SETTLED, LINE_PAUSE, self._input.patience)]
        if quiet < SETTLED:
            waits.append(LONGEST_SETTLING - (time.monotonic() - self._since))
        return min((wait for wait in waits if wait > 0), default=None)

    def pause_after(self, planned: PlannedPass) -> bool:
        self.look()
        following = planned.index + 1
        if following < self.parts:
            silence = following in self._after_silence
            self._after_silence.discard(following)
            return planned.pause_after or silence
        return planned.pause_after and not self._ended  # more may follow

    def leave(self) -> None:
        self._input.leave()
