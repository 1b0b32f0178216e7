"""Parts of a text to be spoken alone: from a place on, the paragraph there, what is selected."""

from __future__ import annotations

import re
from collections.abc import Sequence

Span = tuple[int, int]
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_SPEAKER = re.compile(r"<\|speaker:\d+\|>")


def from_place(text: str, at: int, sentences: Sequence[Span]) -> Span:
    """From the beginning of the sentence at character `at` to the end; behind all words it is the last sentence.
    sentences: the spans of the text, characters [begin, end)."""
    worded = [span for span in sentences if text[slice(*span)].strip()]
    return next((b for b, e in worded if e > at), worded[-1][0] if worded else 0), len(text)


def paragraph(text: str, at: int) -> Span:
    """The paragraph at character `at`, or the one before a gap: blank lines part them, or, where there are none, the
    ends of lines."""
    parted = _BLANK_LINES if _BLANK_LINES.search(text.strip()) else re.compile(r"\n")
    gaps = [gap.span() for gap in parted.finditer(text)]
    edges = [0, *(edge for gap in gaps for edge in gap), len(text)]
    worded = [(b, e) for b, e in zip(edges[::2], edges[1::2], strict=True) if text[b:e].strip()]
    before = [span for span in worded if span[0] <= at]
    return before[-1] if before else worded[0] if worded else (0, 0)


def with_speaker(text: str, span: Span) -> tuple[str, int]:
    """The part [begin, end) as it is to be spoken: with the tag of its speaker, where that stands before it. Also the
    character of the text at which this begins; the tag in front moves it back, below 0 even."""
    begin, end = span
    while begin < end and text[begin].isspace():
        begin += 1
    words = text[begin:end].rstrip()
    earlier = _SPEAKER.findall(text[:begin])
    tag = earlier[-1] if earlier and not _SPEAKER.match(words) else ""
    return tag + words, begin - len(tag)
