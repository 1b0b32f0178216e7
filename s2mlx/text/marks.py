"""What in a text is not words: speaker tags, `[tags]`, and anything else that must stay in one piece."""

from __future__ import annotations

import re

SPEAKER_TAG = re.compile(r"<\|speaker:([0-9]{1,4})\|>")
# `[whisper]`, `[with a smile]`; a longer bracket is a remark of the author's. `<|...|>` is a control token's spelling.
TAG = re.compile(r"\[[^\[\]\r\n]{1,80}\]|<\|[^|<>\s]{1,40}\|>")


def inside_tags(text: str) -> bytearray:
    """One byte a character: 1 where a break just before it would cut a tag."""
    inside = bytearray(len(text) + 1)
    for tag in TAG.finditer(text):
        for at in range(tag.start() + 1, tag.end()):
            inside[at] = 1
    return inside


def has_words(text: str) -> bool:
    """Whether something of the text makes a sound: a letter, a digit, a symbol, a `[tag]`; not punctuation alone, not a
    speaker tag."""
    text = SPEAKER_TAG.sub("", text)
    return TAG.search(text) is not None or any(c.isalnum() for c in text) or _symbol(text)


def _symbol(text: str) -> bool:
    # asked last and seldom: only of text without any letter
    import unicodedata

    return any(unicodedata.category(c) in ("So", "Sc", "Lo", "Mc") for c in text)
