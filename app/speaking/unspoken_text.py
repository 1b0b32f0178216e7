"""Which part of a text that is being written has been sent to be spoken, and which sentences behind it are finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .moved_text import MovedText

Span = tuple[int, int]
_MORE = "Xx"  # stands for a word that may follow


class UnspokenText:
    """What was sent stays sent, however the text is edited; the rest behind it waits until its sentences are finished.

    sentences(text): characters [begin, end) of each sentence."""

    def __init__(self, sentences: Callable[[str], Sequence[Span]]):
        self._sentences = sentences
        self.text = ""
        self._sent = 0  # characters of the text, as it stands now
        self._last = 0  # characters of the last piece
        self._pieces: list[tuple[int, Span | None]] = []  # of this speech: begin in it, characters of the text

    @property
    def waiting(self) -> str:
        """All that was not sent."""
        return self.text[self._sent :]

    def begin(self, text: str) -> None:
        """The text as it is found: what is finished in it is not to be spoken."""
        self.text, self._sent = text, 0
        self._pieces = []
        self._sent = len(self.finished(rested=True))

    def begin_speech(self) -> None:
        """Places told from now on are those of another speech, that begins with the next `send`."""
        self._pieces = []

    def change(self, text: str) -> bool:
        """Another text stands there now. True where something that was sent is not as it was."""
        before, sent = self.text, self._sent
        self.text = text
        if text.startswith(before[:sent]):
            return False
        moved = MovedText(before, text)
        stays = moved.find((sent, len(before)))  # what was not sent, if nothing in it has changed
        self._sent = min(len(text), stays[0]) if stays else moved.end_of_change
        self._pieces = [(begin, span and moved.find(span)) for begin, span in self._pieces]
        return True

    def finished(self, rested: bool) -> str:
        """The sentences behind what was sent that are finished: a word follows, or, where the writer `rested`, the
        mark of an end or the end of a line does."""
        waiting = self.waiting
        spans = self._sentences(waiting)
        if not spans:
            return ""
        last = spans[-1][0]
        if rested and waiting[last:].strip():
            done = waiting.rstrip()
            follows = self._sentences(f"{done} {_MORE}")
            if waiting.endswith("\n") or (follows and follows[-1][0] >= len(done)):
                last = len(waiting)
        while last < len(waiting) and last and waiting[last].isspace():  # by which the end is certain
            last += 1
        return waiting[:last]

    def send(self, words: str) -> None:
        """`words`, which begin what waits, are spoken from now on."""
        begin = self._pieces[-1][0] + self._last if self._pieces else 0
        self._pieces.append((begin, (self._sent, self._sent + len(words))))
        self._last = len(words)
        self._sent += len(words)

    def find(self, span: Span) -> Span | None:
        """Characters [begin, end) of the speech, as they stand in the text now; None where they were changed."""
        for index, (begin, place) in enumerate(self._pieces):
            end = self._pieces[index + 1][0] if index + 1 < len(self._pieces) else begin + self._last
            if begin <= span[0] < end:
                if place is None:
                    return None
                return place[0] + span[0] - begin, place[0] + min(span[1], end) - begin
        return None
