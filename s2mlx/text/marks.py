"""What in a text is not words: speaker tags, `[tags]`, and anything else that must stay in one piece."""

from __future__ import annotations

import re

# `<|speaker:0|>`; `<speaker:0>` is how earlier models spelt it
SPEAKER_TAG = re.compile(r"<\|?speaker:([0-9]{1,4})\|?>")
# `[whisper]`, `[with a smile]`; a longer bracket is a remark of the author's. `<|...|>` is a control token's spelling.
TAG = re.compile(
    r"\[(?:(?!<\|?speaker:)[^\[\]\r\n]){1,80}\]"  # a speaker within begins a turn: it is no tag then
    r"|<\|[^|<>\s]{1,40}\|>|<\|?speaker:[0-9]{1,4}\|?>"
)


def inside_tags(text: str) -> bytearray:
    """One byte a character: 1 where a break just before it would cut a tag."""
    inside = bytearray(len(text) + 1)
    for tag in TAG.finditer(text):
        for at in range(tag.start() + 1, tag.end()):
            inside[at] = 1
    return inside


def without_tags(text: str) -> str:
    """The text with its speaker tags and no others, for a model that knows none."""
    return TAG.sub(lambda tag: tag.group() if SPEAKER_TAG.fullmatch(tag.group()) else " ", text)


def spell_speakers(text: str) -> str:
    """The text with its speaker tags as the model knows them."""
    return SPEAKER_TAG.sub(r"<|speaker:\1|>", text)


def without_speakers(text: str) -> str:
    """The text without its speaker tags, for people."""
    return SPEAKER_TAG.sub("", text)
