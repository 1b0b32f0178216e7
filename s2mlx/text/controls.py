"""Text without what steers a terminal: escape sequences, and control characters that are no line end and no tab.

Sequences as ECMA-48 has them, in the 7-bit form (ESC [) and the 8-bit one (U+009B). A link (OSC 8) keeps its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEQUENCE = re.compile(
    r"""
      \x1b\] [^\x07\x1b\x9c\n\r]* (?: \x07 | \x1b\\ | \x9c )?                          # OSC: titles, links, colours
    | \x1b[PX^_] (?: [^\x1b\x9c]* (?: \x1b\\ | \x9c ) | [^\x1b\x9c\n\r]* )             # DCS, SOS, PM, APC
    | \x1b\[ [0-?]* [\ -/]* [@-~]?                                                     # CSI
    | \x1b [\ -/]* [0-~]?
    # The 8-bit forms only where they are plain to see: text in a wrong encoding has these characters too.
    | \x9d [^\x07\x1b\x90-\x9f\n\r]* (?: \x07 | \x1b\\ | \x9c )
    | [\x90\x98\x9e\x9f] [^\x1b\x90-\x9f\n\r]* (?: \x1b\\ | \x9c )
    | \x9b [0-?]+ [\ -/]* [@-~]
    | [\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]
    """,
    re.VERBOSE,
)
# The same where it may go on behind the end, and half of a line end.
_OPEN = re.compile(
    r"""
    (?: \x1b (?: \] [^\x07\x1b\x9c\n\r]* \x1b? | [PX^_] [^\x1b\x9c]* \x1b? | \[ [0-?]* [\ -/]* | [\ -/]* )?
      | \x9d [^\x07\x1b\x90-\x9f\n\r]* \x1b?
      | [\x90\x98\x9e\x9f] [^\x1b\x90-\x9f\n\r]* \x1b?
      | \x9b [0-?]* [\ -/]*
      | \r
    ) \Z""",
    re.VERBOSE,
)
_LONGEST_OPEN = 4096  # characters: what is longer ends, if at all, where nobody waits for it
_BREAKS = "\x0b\x0c\x85"  # the next line or page begins
_SEPARATORS = "\x1c\x1d\x1e\x1f"
_MOVES = frozenset("ABCDEFGHIZ`adef")  # what ends a CSI that moves the cursor: what stands behind is another word


def clean_text(text: str) -> str:
    """The text with its words, line ends and tabs, and without control sequences. Idempotent; the same object where
    there is nothing to strip."""
    return clean_with_places(text)[0]


def clean_with_places(text: str) -> tuple[str, Sequence[int]]:
    """The clean text, and for each of its characters, and its end, the place in `text` where that stands."""
    if _SEQUENCE.search(text) is None:
        return text, range(len(text) + 1)
    kept: list[str] = []
    places: list[int] = []
    _keep(text, 0, kept, places)
    return "".join(kept), [*places, len(text)]


class Cleaner:
    """The same for a text that comes in pieces: what may be half a control sequence is kept for the next one."""

    def __init__(self) -> None:
        self._held, self.came = "", 0  # characters that were taken in, the held ones left out

    def cut_back(self, came: int) -> None:
        """Only so many characters of the text remain."""
        self._held, self.came = "", came

    @property
    def holds(self) -> bool:
        return bool(self._held)

    def add(self, text: str, kept: list[str], places: list[int], last: bool = False) -> None:
        """Put the clean characters behind those in `kept`, which backspaces may take away, and their places in the
        text behind those in `places`. last: nothing follows."""
        text = self._held + text
        begun = None if last else _OPEN.search(text, max(0, len(text) - _LONGEST_OPEN))
        end = len(text) if begun is None else begun.start()
        self._held = text[end:]
        _keep(text[:end], self.came, kept, places)
        self.came += end


def _keep(text: str, offset: int, kept: list[str], places: list[int]) -> None:
    last = 0
    for found in _SEQUENCE.finditer(text):
        kept += text[last : found.start()]
        places += range(offset + last, offset + found.start())
        last = found.end()
        if found.group() == "\b":  # a manual page's bold and underlined letters are struck twice
            if kept and kept[-1] not in "\n\r\t":
                kept.pop()
                places.pop()
        elif stands_for := _left(found.group()):
            kept.append(stands_for)
            places.append(offset + found.start())
    kept += text[last:]
    places += range(offset + last, offset + len(text))


def _left(sequence: str) -> str:
    """What is left of a sequence: nothing, or the gap it made."""
    if sequence in _BREAKS:
        return "\n"
    moves = len(sequence) > 1 and sequence[0] in "\x1b\x9b" and sequence[-1] in _MOVES
    if sequence in _SEPARATORS or (moves and sequence.startswith(("\x1b[", "\x9b"))):
        return " "
    return ""
