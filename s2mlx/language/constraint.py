"""What a model may write when it directs a sentence: the sentence as it is, and before some of its words a direction,
`[tag] ` of a list. As an automaton over bytes, and as a logits processor of mlx-lm that allows nothing else.

Between two directions stands a word; none stands inside or beside a tag that the sentence has already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import regex

from ..text import SPEAKER_TAG, TAG

if TYPE_CHECKING:
    import mlx.core as mx

_WORD = regex.compile(rf"(?P<tag>{TAG.pattern})|(?<!\S)[^\s\[\]<]*[\p{{L}}\p{{N}}]|(?<=>)[^\s\[\]<]*[\p{{L}}\p{{N}}]")
_LONGEST = 64  # bytes of a token that are looked for

LogitsProcessor = Callable[["mx.array", "mx.array"], "mx.array"]


def words(sentence: str) -> list[int]:
    """Where a direction may stand: before a word that follows a space, a speaker's tag or nothing."""
    places, taken = [], -1
    for found in _WORD.finditer(sentence):
        if found["tag"]:
            after = found.end()
            while sentence[after : after + 1].isspace():
                after += 1
            if SPEAKER_TAG.fullmatch(found["tag"]) is None:
                taken = after  # this word has its direction
        elif found.start() != taken:
            places.append(found.start())
    return places


@dataclass(frozen=True)
class _Path:
    """A text that may come of it, of which `at` bytes are written; places: where a direction may still be put in."""

    text: bytes
    at: int
    places: tuple[int, ...]
    added: int = 0


class DirectedSentence:
    """The automaton. tags: the directions, without brackets; most: how many may be added."""

    def __init__(self, sentence: str, tags: Sequence[str], most: int):
        self._tags, self._most = [f"[{tag}] ".encode() for tag in tags], most
        places = tuple(len(sentence[:at].encode()) for at in words(sentence))
        self._paths = [_Path(sentence.encode(), 0, places)]

    @property
    def result(self) -> tuple[str, int] | None:
        """The directed sentence, and how many directions it was given; None while it is not written to its end."""
        return next(((p.text.decode(), p.added) for p in self._paths if p.at == len(p.text)), None)

    def allowed(self, tokens: Mapping[bytes, Sequence[int]]) -> list[int]:
        """The ids of the tokens (what each writes -> its ids) that may be written next; none at the end."""
        begun = {path.text[path.at : path.at + _LONGEST] for path in self._all()}
        pieces = {ahead[:end] for ahead in begun for end in range(1, len(ahead) + 1)}
        return sorted(number for piece in pieces for number in tokens.get(piece, ()))

    def write(self, token: bytes) -> None:
        """`token` was written. ValueError for one that is not allowed."""
        going_on = [path for path in self._all() if path.text.startswith(token, path.at)]
        if not going_on:
            raise ValueError(f"{token!r} is not allowed here")
        if len(self._paths) == 1 and going_on[0] is self._paths[0]:
            going_on = going_on[:1]  # no direction has begun: they branch off again
        self._paths = [replace(path, at=path.at + len(token)) for path in going_on]

    def _all(self) -> Iterator[_Path]:
        """The ways to go on: those begun, and, where there is only one, those on which its next word has a tag."""
        yield from self._paths
        if len(self._paths) > 1 or self._paths[0].added == self._most:
            return
        [path] = self._paths
        place = next((place for place in path.places if place >= path.at), None)
        if place is None:
            return
        for tag in self._tags:
            text = path.text[:place] + tag + path.text[place:]
            later = tuple(each + len(tag) for each in path.places if each > place)
            yield _Path(text, path.at, later, path.added + 1)


class OnlyDirections:
    """The logits processor: gives every token but the allowed ones no chance. ends: the ids that end the writing."""

    def __init__(self, sentence: DirectedSentence, tokens: Mapping[bytes, Sequence[int]], ends: Sequence[int]):
        self._sentence, self._tokens, self._ends = sentence, tokens, list(ends)
        self._written = {number: written for written, numbers in tokens.items() for number in numbers}
        self._prompt: int | None = None
        self._ended = False

    def __call__(self, seen: mx.array, logits: mx.array) -> mx.array:
        """seen: int32 [n], the ids so far, the prompt's first; logits [1, vocabulary] -> the same, all but the allowed
        at minus infinity."""
        import mlx.core as mx

        if self._prompt is None:
            self._prompt = seen.size
        elif not self._ended:
            token = int(cast(int, seen[-1].item()))
            self._ended = token in self._ends
            if not self._ended:
                self._sentence.write(self._written[token])
        # at the end, and where the tokenizer has no token for what comes: no more
        allowed = [] if self._ended or self._sentence.result else self._sentence.allowed(self._tokens)
        allowed = [number for number in allowed if number < logits.shape[-1]] or self._ends
        chances = mx.full(logits.shape, -float("inf"), dtype=logits.dtype)
        chances[:, mx.array(allowed)] = logits[:, mx.array(allowed)]
        return chances
