"""The tags one types into a text, and what completes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from s2mlx.text import DIRECTIONS

SPEAKERS = 10  # that can have a voice: there is a key for each
_OPEN = re.compile(r"\[[a-z ]*$|<\|?[a-z]*:?\d*\|?$", re.IGNORECASE)
_TAG = re.compile(r"\[[^\[\]\n]{1,80}\]|<\|speaker:[0-9]+\|>")
_SPEAKER = re.compile(r"<\|speaker:0*([0-9]{1,9})[0-9]*\|>")  # nine digits tell that a number is too large


def begun(before: str) -> str | None:
    """The unfinished tag that ends `before` (a line up to the cursor), or None."""
    found = _OPEN.search(before)
    return found.group() if found else None


def completions(start: str, speakers: Sequence[str] = ()) -> list[tuple[str, str]]:
    """(tag, remark) for all that the unfinished tag `start` may become. `speakers`: the names bound to 0, 1, ..."""
    if start.startswith("<"):
        every = [(f"<|speaker:{n}|>", name) for n, name in enumerate(speakers)]
        return [(tag, name) for tag, name in every if tag.startswith(start)]
    word = start[1:].lower()
    first = [tag for tag in DIRECTIONS if tag.startswith(word)]
    inside = [tag for tag in DIRECTIONS if word and word in tag and tag not in first]
    return [(f"[{tag}]", "") for tag in first + inside]


GROUPS = {  # of DIRECTIONS, as people look for them; what is in none of these is a manner of speaking
    "Feelings": ("angry", "delighted", "excited", "sad", "shocked", "surprised", "with a smile"),
    "Sounds": (
        *("breathing", "chuckling", "clearing throat", "crying", "exhale", "gasps", "giggling", "groaning", "inhale"),
        *("laughing", "moaning", "panting", "sighing", "sobbing", "tongue click", "tsk"),
    ),
    "Pauses": ("short pause", "pause", "long pause"),
}


def palette(typed: str = "", speakers: Sequence[str] = ()) -> list[tuple[str, list[tuple[str, str]]]]:
    """(group, [(tag, remark)]) of all tags that hold what was typed; a direction of one's own comes last."""
    word = typed.strip().strip("[]").casefold()
    grouped = {tag for tags in GROUPS.values() for tag in tags}
    manners = tuple(tag for tag in DIRECTIONS if tag not in grouped)
    found = [
        (group, [(f"[{tag}]", "") for tag in tags if word in tag])
        for group, tags in ({"Manner": manners} | GROUPS).items()
    ]
    found.append(("Speakers", [(f"<|speaker:{n}|>", who) for n, who in enumerate(speakers) if word in who.casefold()]))
    own = f"[{word}]"
    if word and _TAG.fullmatch(own) and word not in DIRECTIONS:
        found.append(("In your own words", [(own, "")]))
    return [(group, tags) for group, tags in found if tags]


def spans(line: str) -> list[tuple[int, int]]:
    """Where the tags of a line stand: [begin, end)."""
    return [found.span() for found in _TAG.finditer(line)]


def without_speakers(text: str) -> str:
    """The text for one voice that says all of it."""
    return _SPEAKER.sub("", text)


def who_speaks(text: str) -> list[int]:
    """The numbers of the speakers that say something, in rising order; words in front of all tags are those of 0."""
    before, *rest = _SPEAKER.split(text)
    parts = [("0", before), *zip(rest[::2], rest[1::2], strict=True)]
    return sorted({int(number) for number, words in parts if words.strip()})


def speakers(text: str) -> list[int]:
    """The speaker numbers a text names, in rising order. Huge ones are huge, not exact."""
    return sorted({int(number) for number in _SPEAKER.findall(text)})
