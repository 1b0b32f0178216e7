"""The text of one request of Wyoming, which may be written while it is spoken."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from ..errors import S2Error
from ..speech_input import SpeechInput
from ..text import clean_text, has_words
from .refused import Refused
from .speech_request import check_piece


class WrittenText:
    """voice: who is to speak it. streamed: it comes in pieces, `add`, until `end`. tags: the model does `[tags]`, so
    that one alone is something to say. To be made in a running loop."""

    def __init__(self, voice: str | None, *, streamed: bool, tags: bool = True):
        self.voice, self.streamed, self.input = voice, streamed, SpeechInput()
        self._tags, self._begun, self._patience = tags, asyncio.Event(), 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.text = ""  # until there are words in it, or the end

    def add(self, piece: str) -> None:
        """Raises `Refused` for what is no text, or when the whole is too long."""
        check_piece(piece, self.input.characters)
        if not self._begun.is_set():
            self.text += piece
            if has_words(clean_text(self.text), self._tags):
                self._begun.set()
        with suppress(S2Error):  # what comes behind the end of the speech is nobody's
            self.input.write(piece)
        self.moved()

    def end(self) -> None:
        self.input.close()
        self._begun.set()
        self.stop_watching()

    async def begun(self) -> bool:
        """Once there is something to say: True; at the end without it: False, unless it came in one piece."""
        await self._begun.wait()
        return not self.streamed or has_words(clean_text(self.text), self._tags)

    def watch(self, seconds: float) -> None:
        """From now on so long may pass without anything that moves: the text then fails."""
        if not self.input.closed:
            self._patience = seconds
            self.moved()

    def moved(self) -> None:
        """Text came, or sound was sent."""
        if self._patience:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(self._patience, self.input.close, late())

    def stop_watching(self) -> None:
        self._patience = 0.0
        if self._timer is not None:
            self._timer.cancel()


def late() -> Refused:
    return Refused(408, "the rest of the text did not arrive in time")
