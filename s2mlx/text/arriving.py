"""A text cut into spans to be spoken while it is still being written.

As long as nobody is in a hurry, the spans are those of the whole text, whatever it is to become (`certain`). Who has
nothing else to do takes what has come: sentences that are complete, a line, a clause (`early`). Behind such a cut, as
behind a `flush`, the rest is a text of its own.
"""

from __future__ import annotations

import enum
from array import array
from collections import deque
from dataclasses import replace

import regex

from .controls import Cleaner
from .marks import SPEAKER_TAG
from .sentences import sentence_breaks
from .settled import PROBE, ends_here, open_tag, settled_sentences
from .splitting import Before, CutPlan, Span, split_turns
from .words import has_words

_WINDOW = 120  # characters for each second of a pass: about eight passes, which nearly always settle the first
_CONTEXT = 400  # characters before a cut that are looked back at, and the rest of their line
_MOST_CONTEXT = 4000
_BACKSPACES = 32  # so many in a row reach what came in earlier pieces
_LINE_END = regex.compile(r"[\n\u2028\u2029]\s*\Z")

Said = tuple[Span, str]  # places in the text as it was given, and the words to say


class Haste(enum.IntEnum):
    """What is good enough to be spoken."""

    SENTENCE = 0  # complete whatever follows, or longer than a pass
    LINE = 1  # complete by its looks, white space behind it
    CLAUSE = 2  # the end of a clause, of a line, a mark without white space behind it


class ArrivingText:
    """max_seconds: the longest span, as for `split_passes`."""

    def __init__(self, max_seconds: float):
        self._limit, self._window = max_seconds, max(2000, int(_WINDOW * max_seconds))
        self._cleaner = Cleaner()
        self._text, self._places = "", array("q")  # the clean rest, and where its characters stand
        self._before, self._taken = Before(), 0  # what the rest continues; the end of the last span
        self._has_capitals = False
        self._ends: deque[int] = deque()  # flushed places in the rest
        self._looked_at = 0  # characters of the rest that had no certain span
        self.ended = False  # nothing more will come

    def __len__(self) -> int:
        """Characters that wait."""
        return len(self._text)

    def add(self, text: str) -> None:
        self._clean_in(text)

    def _clean_in(self, text: str, last: bool = False) -> None:
        keep = max([0, len(self._text) - _BACKSPACES, *self._ends])
        kept, places = list(self._text[keep:]), list(self._places[keep:])
        self._cleaner.add(text, kept, places, last)
        self._text = self._text[:keep] + "".join(kept)
        self._places = self._places[:keep]
        self._places.extend(places)

    def flush(self) -> None:
        """What came so far is a text of its own."""
        self._clean_in("", last=True)
        if len(self._text) > max(self._ends, default=0):
            self._ends.append(len(self._text))

    def end(self) -> None:
        self.flush()
        self.ended = True

    def fail(self) -> None:
        """The writer failed: what is not complete is dropped."""
        begin, text = len(self._before.text), self._before.text + self._text
        text = text[: max(begin, open_tag(text))]
        capitals = self._has_capitals or any(c.isupper() for c in self._text)
        end = len(text)
        if not ends_here(text, begin, capitals, spaced=False):
            end = max(sentence_breaks(text, begin, capitals), default=begin)
        end = max(end - begin, *self._ends, 0)
        self._cleaner.cut_back([*self._places, self._cleaner.came][end])
        self._text, self._places = self._text[:end], self._places[:end]
        self.end()

    @property
    def finished(self) -> bool:
        """Whether everything was given out."""
        return self.ended and not self._ends

    def certain(self) -> list[Said]:
        """The next spans that are those of the whole text; none as long as they may yet change."""
        end = self._ends[0] if self._ends else None
        have = len(self._text) if end is None else end
        if end is None and have <= self._looked_at + self._looked_at // 32:
            return []
        capitals = self._has_capitals or any(c.isupper() for c in self._text[:have])
        window = self._window
        while window < have:
            if said := self._settled(self._text[:window], capitals):
                return said
            window *= 2
        if end is not None:
            return self._whole(end, capitals)
        said = self._settled(self._text, capitals)
        self._looked_at = 0 if said else have
        return said

    def early(self, haste: Haste) -> Said | None:
        """The next span of what has come, if the end of that is good enough; what follows begins anew behind it."""
        if self._ends or not self._text:
            return None
        text, speaker = self._text[: 2 * self._window], self._before.speaker
        end, pause = self._early_end(text, haste)
        if not has_words(text[:end]):
            if len(self._text) < self._window:
                return None
            end = len(text)  # so much that nobody can say: it shall not fill the memory
        turn = split_turns(text[:end], 0, speaker)[0]
        plan = CutPlan(text[:end], self._limit)
        first = plan.spans(turn)[0]
        if first.end == end:
            first = replace(first, pause_after=pause)
        [said] = self._give([first], text)
        self._begin_anew(first.end)
        return said

    def _early_end(self, text: str, haste: Haste) -> tuple[int, bool]:
        """Where what can be spoken ends, 0 if nothing can, and whether a sentence does."""
        begin, whole = len(self._before.text), self._before.text + text
        capitals = self._has_capitals or any(c.isupper() for c in text)
        found, settled = settled_sentences(whole, begin, capitals)
        if ends := [at for at in found if at <= settled]:
            return max(ends) - begin, True
        seconds = CutPlan(text, self._limit).seconds
        if seconds[settled - begin] > self._limit:
            return settled - begin, False
        if seconds[-1] > 2 * self._limit:
            return len(text), False
        if haste == Haste.SENTENCE or self._cleaner.holds:
            return 0, False
        if ends_here(whole, begin, capitals, spaced=haste == Haste.LINE):
            return len(text), True
        if haste == Haste.LINE:
            return 0, False
        if _LINE_END.search(text) is not None:
            return len(text), True
        return CutPlan(text + PROBE, self._limit).last_clause(open_tag(text)), False

    def _settled(self, text: str, capitals: bool) -> list[Said]:
        """The certain spans of the beginning of the rest, which goes on."""
        before, begin = self._before, len(self._before.text)
        whole = before.text + text
        found, settled = settled_sentences(whole, begin, capitals)
        plan = CutPlan(text, self._limit, before, found)
        spans: list[Span] = []
        cost = 0.0  # of the turn so far
        for turn in split_turns(whole, begin, before.speaker):
            if turn.end > settled:
                more, cost = plan.certain_spans(turn, settled)
                spans += more
                break
            spans += plan.spans(turn)
        if not spans:
            return []
        said = self._give(spans, whole, begin)
        end = spans[-1].end
        back = max(whole.rfind("\n", 0, max(0, end - _CONTEXT)) + 1, end - _MOST_CONTEXT, 0)
        in_pause = bool(plan.pauses[end - begin])
        self._before = Before(whole[back:end], plan.seconds[back : end + 1], in_pause, cost, spans[-1].speaker)
        self._drop(end - begin)
        return said

    def _whole(self, end: int, capitals: bool) -> list[Said]:
        """The spans up to a flushed place."""
        before, text, begin = self._before, self._text[:end], len(self._before.text)
        whole = before.text + text
        plan = CutPlan(text, self._limit, before, sentence_breaks(whole, begin, capitals))
        turns = split_turns(whole, begin, before.speaker)
        said = self._give([span for turn in turns for span in plan.spans(turn)], whole, begin)
        if not self.ended or len(self._ends) > 1:  # more may follow
            *first, (last, words) = said
            said = [*first, (replace(last, pause_after=True), words)]
        self._begin_anew(end)
        return said

    def _give(self, spans: list[Span], text: str, begin: int = 0) -> list[Said]:
        """The spans, of `text` in which the rest begins at `begin`, with their places in the text that was given."""
        said = []
        for span in spans:
            at = span.end - begin
            end = self._places[at] if at < len(self._text) else self._cleaner.came
            said.append((replace(span, begin=self._taken, end=end), span.words(text)))
            self._taken = end
        return said

    def _begin_anew(self, end: int) -> None:
        """What stands behind `end` is a text of its own, but for its speaker."""
        tags = SPEAKER_TAG.findall(self._text, 0, end)
        self._before = Before(speaker=int(tags[-1]) if tags else self._before.speaker)
        self._drop(end)

    def _drop(self, end: int) -> None:
        """Let the beginning of the rest go."""
        self._has_capitals |= any(c.isupper() for c in self._text[:end])
        self._text, self._places = self._text[end:], self._places[end:]
        self._ends = deque(at - end for at in self._ends if at > end)
        self._looked_at = 0
