"""What a check did not hear as it is written: words to mark, and sentences to say again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from s2mlx.results import AudioChunk

from .moved_text import MovedText

Span = tuple[int, int]
_SPEAKER = re.compile(r"\s*(<\|speaker:\d+\|>)")


class Misheard:
    """Of one text. sentences(text): spans, characters [begin, end), asked for when one is to be said again: a book has
    many. `words` are the spans that were not heard."""

    def __init__(self, text: str = "", sentences: Callable[[str], Sequence[Span]] = lambda text: ()):
        self.text, self._sentences = text, sentences
        self.words: list[Span] = []
        self.checked = False  # something of it was heard
        self._speakers: list[tuple[Span, str]] = []  # of passes, as their tags

    def add(self, chunk: AudioChunk) -> bool:
        """What was heard of a pass; whether words of it are wrong."""
        if chunk.heard is None:
            return False
        self.checked = True
        if chunk.heard.right:
            return False
        from s2mlx.listen import compare

        begin, end = chunk.span
        if tag := _SPEAKER.match(chunk.text):
            self._speakers.append((chunk.span, tag[1]))
        for difference in compare(self.text[begin:end], chunk.heard.text).differences:
            at, until = (begin + place for place in difference.span)
            if at == until:  # words that came besides: the one they came behind, or before
                at, until = self._twice(difference.heard, at, begin, end) or self._word(at, begin, end)
            self.words.append((at, until))
        self.words.sort()
        return True

    def join(self, text: str, heard: Misheard, place: Callable[[Span], Span | None]) -> bool:
        """What was `heard` of another text, whose characters stand in `text` by now as `place` tells; whether words of
        it are wrong. This is of `text` from now on: what of it was found before moves to where it stands now."""
        moved = MovedText(self.text, text)
        self.text = text
        stays = [(span, tag) for old, tag in self._speakers if (span := moved.find(old))]
        came = [(span, tag) for old, tag in heard._speakers if (span := place(old))]
        self._speakers = stays + came
        wrong = [span for old in heard.words if (span := place(old))]
        self.words = sorted([span for old in self.words if (span := moved.find(old))] + wrong)
        self.checked = self.checked or heard.checked
        return bool(wrong)

    def sentence(self, at: int) -> Span | None:
        """The sentence with wrong words at the character `at`, or the next one, or the first."""
        if not self.words:
            return None
        sentences = [s for s in self._sentences(self.text) if self.text[slice(*s)].strip()]
        wrong = [s for s in sentences if any(b < s[1] and e > s[0] for b, e in self.words)]
        return next((s for s in wrong if s[1] > at), wrong[0] if wrong else None)

    def take(self, sentence: Span) -> str:
        """What to say to have it again, in its speaker's voice; its marks go."""
        self.words = [w for w in self.words if not (w[0] < sentence[1] and w[1] > sentence[0])]
        words = self.text[slice(*sentence)].strip()
        tag = next((tag for span, tag in self._speakers if span[0] <= sentence[0] < span[1]), "")
        return words if words.startswith(tag) else tag + words

    def _twice(self, words: str, at: int, begin: int, end: int) -> Span | None:
        """Where words stand that were said twice, with nothing but signs between them and `at`."""
        here = re.compile(r"[\W_]*" + re.escape(words.strip(" .,;:!?")), re.IGNORECASE)
        if found := here.match(self.text, at, end):
            return at + len(found[0]) - len(found[0].lstrip(" .,;:!?")), found.end()
        behind = [found for found in here.finditer(self.text, begin, at) if found.end() == at]
        return (behind[-1].end() - len(words.strip(" .,;:!?")), at) if behind else None

    def _word(self, at: int, begin: int, end: int) -> Span:
        behind = re.search(r"[\w'’]+\W*$", self.text[begin:at])
        if behind:
            return begin + behind.start(), at
        before = re.match(r"\W*[\w'’]+", self.text[at:end])
        return at, at + (before.end() if before else 0)
