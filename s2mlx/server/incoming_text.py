"""The text of one request, which may come in pieces: handed on by whole sentences, as soon as they are complete."""

from __future__ import annotations

import asyncio
import re

from ..text import clean_text, has_words, split_sentences, split_turns
from .speech_request import check_length

# What has to stand behind a sentence before it counts as one: a whole word, or so many characters where words have
# no spaces between them. "Dr." may be followed by a name, "3." by more of the number.
_GOES_ON = re.compile(r"\w\W")
_CHARACTERS = 16


class IncomingText:
    """voice: who is to speak it. streamed: it comes in pieces, `add`, until `end`. tags: the model does `[tags]`, so
    that one alone is something to say."""

    def __init__(self, voice: str | None, *, streamed: bool, tags: bool = True):
        self.voice, self.streamed = voice, streamed
        self._tags, self._rest, self._taken = tags, "", 0
        self._ended, self._done, self._came = False, False, asyncio.Event()
        self._looked_at = 0  # characters of the rest, when it was last searched for sentences
        self._speaker: int | None = None

    def __len__(self) -> int:
        """Characters that came."""
        return self._taken + len(self._rest)

    def add(self, piece: str) -> None:
        """Raises `Refused` when the whole is too long."""
        check_length(len(self) + len(piece))
        self._rest += piece
        self._came.set()

    def end(self) -> None:
        self._ended = True
        self._came.set()

    async def next(self) -> str | None:
        """What can be spoken now, all of it: sentences, or at the end whatever is left, in words or not if it is the
        whole of a text in one piece. None when there is no more. Waits until there is."""
        while not self._done:
            self._done = self._ended  # this is then the last part
            part = self._take()
            if has_words(clean_text(part), self._tags) or self._done and not self.streamed:
                self._rest, self._looked_at, self._taken = self._rest[len(part) :], 0, self._taken + len(part)
                return self._with_speaker(part)
            if not self._done:
                self._came.clear()
                await self._came.wait()
        return None

    def _take(self) -> str:
        if self._ended:
            return self._rest
        return self._rest[: self._complete()] if self.streamed else ""

    def _complete(self) -> int:
        """Where the last complete sentence ends. A long text without one is not searched anew for each letter."""
        if len(self._rest) <= self._looked_at + self._looked_at // 32:
            return 0
        self._looked_at = len(self._rest)
        for begin, _ in reversed(split_sentences(self._rest)):
            behind = self._rest[begin:].strip()
            if _GOES_ON.search(behind) or len(behind) >= _CHARACTERS:
                return begin
        return 0

    def _with_speaker(self, part: str) -> str:
        """Under the tag of the speaker, where it stands in an earlier part."""
        before, speakers = self._speaker, [turn.speaker for turn in split_turns(part)]
        if speakers and speakers[-1] is not None:
            self._speaker = speakers[-1]
        return part if before is None or speakers[0] is not None else f"<|speaker:{before}|>{part}"
