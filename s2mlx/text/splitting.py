"""A text cut into the passes in which it is spoken.

Sentences are put together as evenly as the limit allows. A sentence that is longer than a pass is cut where it bears it
best: at the ends of clauses, where an unmarked clause or phrase begins, then between words, then between the characters
a reader sees. A `[tag]` stays with the words behind it.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import regex

from ..errors import UsageError
from .clauses import clause_starts, phrase_starts
from .marks import SPEAKER_TAG, TAG, inside_tags, spell_speakers
from .pace import running_seconds
from .sentences import Strength, clings, sentence_breaks
from .words import has_words

# What a break costs, in units of one pass's whole slack: it takes several badly filled passes to justify a cut clause.
_COST = {
    Strength.PARAGRAPH: 0.0,
    Strength.SENTENCE: 0.05,
    Strength.CLAUSE: 3.0,
    Strength.OPENER: 4.0,
    Strength.PHRASE: 6.0,
    Strength.SPACE: 8.0,
    Strength.ANY_SPACE: 12.0,
    Strength.GRAPHEME: 20.0,
}
_TAGGED = 1.2  # seconds, three or four words: so far behind a tag a cut is rather made before it
_CHOOSY = (Strength.SPACE, Strength.PHRASE, Strength.OPENER)
_CHOICES = 40  # places considered in one pass, below the level of sentences
_CLAUSE = regex.compile(
    r"""
    (?:[,;:،؛՝፣፤፥…!?.‥] ["'\p{Pe}\p{Pf}]* (?=\s) | [，、；：﹐﹑﹔。！？] ["'\p{Pe}\p{Pf}]* | \s[-–—]+(?=\s) | — | །
      | (?<=[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{M}]) (?=[ ][\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]))
    \s*""",
    regex.VERBOSE,
)
_SPACE = regex.compile(r"[^\S\u00a0\u202f\u2007]+|[\u200b་]")
_FULL_STOP = regex.compile(r"\.[\"'\p{Pe}\p{Pf}]*\s*\Z")
_PIECE = regex.compile(rf"{TAG.pattern}|\X")


@dataclass(frozen=True)
class Span:
    """Characters [begin, end) of a text, spoken in one go.

    pause_after: another span follows, and the sentence ends here. speaker: N of the `<|speaker:N|>` in force, None
    before any. The tag itself is part of the span that it begins.
    """

    begin: int
    end: int
    pause_after: bool
    speaker: int | None

    def words(self, text: str) -> str:
        """What to say: the characters without the white space around, under their speaker's tag where it stands in an
        earlier span."""
        words = spell_speakers(text[self.begin : self.end]).strip()
        if self.speaker is None or SPEAKER_TAG.search(words):
            return words
        return f"<|speaker:{self.speaker}|>{words}"


def split_turns(text: str, begin: int = 0, speaker: int | None = None) -> list[Span]:
    """One span for each `<|speaker:N|>` tag and one for what precedes the first.

    A turn without words joins the next one (the last the one before): nothing of the text is lost. begin: where to
    begin, amid the turn of `speaker`."""
    spans: list[Span] = []
    last = begin
    tags = [(tag.start(), int(tag[1])) for tag in SPEAKER_TAG.finditer(text, begin)]
    for at, named in [*tags, (len(text), None)]:
        if has_words(text[last:at]):  # nothing in [begin, last) has
            spans.append(Span(begin, at, at < len(text), speaker))
            begin = at
        if at < len(text):
            last, speaker = at, named
    if begin < len(text):  # an end without words
        if not spans:
            return [Span(begin, len(text), False, speaker)]
        spans[-1] = replace(spans[-1], end=len(text), pause_after=False)
    return spans


def split_passes(text: str, max_seconds: float = 30.0) -> list[Span]:
    """Spans of at most about `max_seconds` of speech each, by the estimate of `pace`.

    An empty text has no spans; a text without words has one. Only a single tag is ever longer than the limit.
    """
    if not 0 < max_seconds < math.inf:
        raise UsageError(f"max_seconds must be above 0, not {max_seconds!r}")
    plan = CutPlan(text, max_seconds)
    return [span for turn in split_turns(text) for span in plan.spans(turn)]


@dataclass(frozen=True)
class Before:
    """What the plan of a text takes from the text that it continues, which ends where a sentence does.

    text: the last of that, to be looked back at. seconds: up to each of its characters and its end, of all that came
    before; in_pause: whether it ends in a pause. cost: of the best way to cut its last turn up to here. speaker: whose
    turn that is.
    """

    text: str = ""
    seconds: array = field(default_factory=lambda: array("d", [0.0]))
    in_pause: bool = False
    cost: float = 0.0
    speaker: int | None = None


class CutPlan:
    """The places where one text may be cut, found as they are needed.

    before: what it continues; places are then counted from the beginning of `before.text`. sentences: its sentence
    breaks, if they were found already.
    """

    def __init__(
        self,
        text: str,
        max_seconds: float,
        before: Before | None = None,
        sentences: dict[int, Strength] | None = None,
    ):
        before = before or Before()
        self._begin, self._begin_cost = len(before.text), before.cost
        self._text, self._limit = before.text + text, max_seconds
        seconds, self.pauses = running_seconds(text, before.seconds[-1], before.in_pause)
        self.seconds = before.seconds[:-1] + seconds
        self._inside = inside_tags(self._text)
        self._tag_ends = [tag.end() for tag in TAG.finditer(self._text)]
        self._strength = sentence_breaks(self._text, self._begin) if sentences is None else sentences
        self._sentences = sorted(self._strength)

    def strength(self, at: int) -> Strength:
        return self._strength.get(at, Strength.GRAPHEME)

    def spans(self, turn: Span) -> list[Span]:
        """A turn of which the end is known, cut."""
        return self._cut(turn, self.breaks(turn.begin, turn.end))

    def certain_spans(self, turn: Span, known: int) -> tuple[list[Span], float]:
        """The first spans of a turn of which only the sentences up to `known` are certain, as far as they are the same
        whatever follows; and the cost up to the end of the last, which is that of a sentence.

        Whatever follows is reached from a place within one pass of the last certain sentence's end: where the best ways
        to all of these go through one place, the best way to any end does."""
        ends = [at for at in self._sentences if turn.begin < at <= known]
        if not ends:
            return [], 0.0
        places, best, origin = self._ways(turn.begin, ends[-1], _COST[self.strength(ends[-1])])
        open_ways = {j for j in range(len(places)) if self._length(places[j], places[-1]) <= self._limit}
        open_ways.add(len(places) - 1)
        while len(open_ways) > 1:
            last = max(open_ways)
            open_ways.remove(last)
            open_ways.add(origin[last])
        [j] = open_ways
        while j and self.strength(places[j]) < Strength.SENTENCE:
            j = origin[j]
        chosen, cost = [], best[j]
        while j:
            chosen.append(places[j])
            j = origin[j]
        return self._cut(turn, chosen[::-1])[:-1], cost

    def last_clause(self, end: int) -> int:
        """The last place, up to `end`, where a clause ends; 0 without any."""
        places = [m.end() for m in _CLAUSE.finditer(self._text) if 0 < m.end() <= end]
        usable = (
            at
            for at in reversed(places)
            if not (self._inside[at] or clings(self._text, at) or self._after_short_word(at) or self._behind_tag(at))
        )
        return next(usable, 0)

    def _cut(self, turn: Span, places: list[int]) -> list[Span]:
        return [
            Span(
                begin,
                end,
                turn.pause_after if end == turn.end else self.strength(end) >= Strength.SENTENCE,
                turn.speaker,
            )
            for begin, end in zip([turn.begin, *places], [*places, turn.end])
        ]

    def _length(self, begin: int, end: int) -> float:
        return self.seconds[end] - self.seconds[begin]

    def _sentence_ends(self, begin: int, end: int) -> list[int]:
        return self._sentences[bisect_right(self._sentences, begin) : bisect_left(self._sentences, end)]

    def breaks(self, begin: int, end: int) -> list[int]:
        """Where [begin, end) is cut into passes: the cheapest way."""
        places, _, origin = self._ways(begin, end, 0.0)
        chosen, j = [], origin[-1]
        while j:
            chosen.append(places[j])
            j = origin[j]
        return chosen[::-1]

    def _ways(self, begin: int, end: int, end_cost: float) -> tuple[list[int], list[float], list[int]]:
        """The places where [begin, end) may be cut, both ends with them; what the best way to each costs, and where it
        comes from: found from left to right."""
        places = [begin, *self._places(begin, end), end]
        best = [self._begin_cost if begin == self._begin else 0.0] + [math.inf] * (len(places) - 1)
        origin = [0] * len(places)
        for j in range(1, len(places)):
            cut = _COST[self.strength(places[j])] if j < len(places) - 1 else end_cost
            for i in range(j - 1, -1, -1):
                fill = self._length(places[i], places[j]) / self._limit
                if fill > 1.0 and i < j - 1:
                    break
                cost = best[i] + (1.0 - min(fill, 1.0)) ** 2 + cut
                if cost < best[j]:
                    best[j], origin[j] = cost, i
        return places, best, origin

    def _places(self, begin: int, end: int) -> Iterable[int]:
        """Breaks to choose from: sentence ends, and weaker ones inside what is longer than a pass."""
        levels = [self._clauses, self._openers, self._phrases, self._spaces, self._any_spaces]
        levels += [self._graphemes, self._any_graphemes, self._tags]
        yield from self._finer(begin, end, self._sentence_ends(begin, end), levels)

    def _finer(self, begin: int, end: int, places: list[int], levels: list) -> Iterable[int]:
        for b, e in zip([begin, *places], [*places, end]):
            if levels and self._length(b, e) > self._limit:
                yield from self._finer(b, e, levels[0](b, e), levels[1:])
            if e < end:
                yield e

    def _usable(self, places: Iterable[int], begin: int, end: int, strength: Strength) -> list[int]:
        kept, last = [], begin
        for at in places:
            close = self._length(last, at) < self._limit / _CHOICES  # more choice would cost time and gain nothing
            if begin < at < end and not close and not self._inside[at] and not clings(self._text, at):
                if self._behind_tag(at) or (strength in _CHOOSY and self._near_tag(at)):
                    continue
                self._strength.setdefault(at, strength)
                kept.append(at)
                last = at
        return kept

    def _behind_tag(self, at: int) -> bool:
        """Whether a cut here would part a tag from the words it is for."""
        tag_end = self._last_tag_end(at)
        return tag_end is not None and not has_words(self._text[tag_end:at], tags=False)

    def _near_tag(self, at: int) -> bool:
        """Whether a cut here would leave a tag only the first few of its words; they end where another tag begins."""
        tag_end = self._last_tag_end(at)
        return (
            tag_end is not None
            and not TAG.match(self._text, at)
            and self._length(tag_end, at) < min(_TAGGED, self._limit / 4)
        )

    def _last_tag_end(self, at: int) -> int | None:
        before = bisect_right(self._tag_ends, at)
        return self._tag_ends[before - 1] if before else None

    def _clauses(self, begin: int, end: int) -> list[int]:
        places = (m.end() for m in _CLAUSE.finditer(self._text, begin, end) if not self._after_short_word(m.end()))
        return self._usable(places, begin, end, Strength.CLAUSE)

    def _openers(self, begin: int, end: int) -> list[int]:
        places = (at for at in clause_starts(self._text, begin, end) if not self._after_short_word(at))
        return self._usable(places, begin, end, Strength.OPENER)

    def _phrases(self, begin: int, end: int) -> list[int]:
        places = (at for at in phrase_starts(self._text, begin, end) if not self._after_short_word(at))
        return self._usable(places, begin, end, Strength.PHRASE)

    def _spaces(self, begin: int, end: int) -> list[int]:
        places = (
            m.end()
            for m in _SPACE.finditer(self._text, begin, end)
            if not self._after_short_word(m.end()) and not self._between_digits(m)
        )
        return self._usable(places, begin, end, Strength.SPACE)

    def _any_spaces(self, begin: int, end: int) -> list[int]:
        return self._usable((m.end() for m in _SPACE.finditer(self._text, begin, end)), begin, end, Strength.ANY_SPACE)

    def _graphemes(self, begin: int, end: int) -> list[int]:
        pieces = (m.end() for m in _PIECE.finditer(self._text, begin, end))
        return self._usable((at for at in pieces if not self._near_tag(at)), begin, end, Strength.GRAPHEME)

    def _any_graphemes(self, begin: int, end: int) -> list[int]:
        return self._usable((m.end() for m in _PIECE.finditer(self._text, begin, end)), begin, end, Strength.GRAPHEME)

    def _tags(self, begin: int, end: int) -> list[int]:
        """Between tags of which so many follow each other that no words are near."""
        tags = list(TAG.finditer(self._text, begin, end))
        chained = (b.start() for a, b in zip(tags, tags[1:]) if not self._text[a.end() : b.start()].strip())
        return [at for at in chained if not clings(self._text, at)]

    def _after_short_word(self, at: int) -> bool:
        """Whether a full stop stands before this place that ends no sentence: that of "Dr.", "U.S.", an initial."""
        return at not in self._strength and _FULL_STOP.search(self._text, max(0, at - 8), at) is not None

    def _between_digits(self, space) -> bool:
        before, after = self._text[space.start() - 1 : space.start()], self._text[space.end() : space.end() + 1]
        return before.isdigit() and after.isdigit()
