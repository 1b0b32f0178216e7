"""How much of a text that is still being written is settled: where sentences end whatever follows.

Whether a sentence ends is told by what stands behind: its first word, the character after that, and whether a bracket
becomes a tag. Everything before the last word that is complete is therefore settled.
"""

from __future__ import annotations

import regex

from .marks import TAG
from .sentences import Strength, sentence_breaks
from .words import has_words

# A word and two characters behind it, which tell that it is no number of a list. Where words have no spaces between
# them none is an abbreviation, and a letter is enough; so is what is longer than any word that begins sentences.
_WORD = regex.compile(
    r"""(?r)(?:
      (?<![\p{L}\p{M}\p{N}]) [\p{L}\p{N}] [\p{L}\p{M}\p{N}]* (?= [^\p{L}\p{M}\p{N}] (?s:.) )
    | [\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}] (?= (?s:..) )
    | (?<![\p{L}\p{M}\p{N}]) [\p{L}\p{N}] (?= [\p{L}\p{M}\p{N}]{24} )
    )""",
    regex.VERBOSE,
)
_OPEN_TAG = regex.compile(r"\[[^\[\]\r\n]{0,80}\Z|<[^<>\s]{0,45}\Z")
PROBE = "Zzz zzz."  # a word that begins no sentences by itself
_NUMBER = regex.compile(r"\p{Nd}\W{0,3}\Z")


def open_tag(text: str) -> int:
    """Where a tag begins that may yet be completed; else the end."""
    found = _OPEN_TAG.search(text, max(0, len(text) - 130))
    return len(text) if found is None else found.start()


def settled_end(text: str, begin: int) -> int:
    """A place such that breaks up to it, it among them, are the same whatever follows; `begin` if nothing is settled.
    There a word begins."""
    end = open_tag(text)
    tags = [tag.span() for tag in TAG.finditer(text, begin)]
    while (word := _WORD.search(text, begin, end)) is not None:
        if tags and tags[-1][1] > word.start():
            tag_begin, tag_end = tags.pop()
            if tag_begin <= word.start() < tag_end:
                end = tag_begin
            continue
        if has_words(word.group(), tags=False):
            return word.start()
        end = word.start()
    return begin


def settled_sentences(text: str, begin: int, has_capitals: bool) -> tuple[dict[int, Strength], int]:
    """The sentence breaks of the text so far, and up to where they are settled. has_capitals: whether one was seen,
    here or before; until then a small letter tells nothing yet."""
    end = settled_end(text, begin)
    found = sentence_breaks(text, begin, has_capitals)
    if not has_capitals:
        others = sentence_breaks(text, begin, True)
        differ = [at for at in found.keys() | others.keys() if at <= end and found.get(at) != others.get(at)]
        end = min([end, *(at - 1 for at in differ)])
    return found, end


def ends_here(text: str, begin: int, has_capitals: bool, *, spaced: bool) -> bool:
    """Whether a sentence ends where the text does, as far as one can tell without what follows. spaced: only where
    white space tells so; otherwise also at a bare mark that is not part of a number."""
    if open_tag(text) < len(text) or not text[begin:].strip():
        return False
    if text[-1].isspace():
        return len(text) in sentence_breaks(text + PROBE, begin, has_capitals)
    if spaced or _NUMBER.search(text) is not None:
        return False
    return len(text) + 1 in sentence_breaks(f"{text} {PROBE}", begin, has_capitals)
