"""The findings as lines for people: one page, what is wrong in red with what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from .examine import Examined
from .finding import BAD, GOOD, NOTE, Finding
from .table import Check

_COLOURS = {GOOD: "32", BAD: "31;1", NOTE: "33"}
_LABELS = {GOOD: "ok", BAD: "BAD", NOTE: "note"}
_INDENT = 7


def heading(check: Check, colour: bool = False) -> str:
    return f"\x1b[1m{check.title}\x1b[0m" if colour else check.title


def lines(finding: Finding, width: int = 100, colour: bool = False) -> Iterator[str]:
    """The finding and, below it, what to do."""
    label = _LABELS[finding.state].ljust(_INDENT - 2)
    if colour:
        label = f"\x1b[{_COLOURS[finding.state]}m{label}\x1b[0m"
    first, *more = _wrapped(finding.text, width)
    yield f"  {label}{first}"
    yield from (" " * _INDENT + line for line in more)
    if finding.todo:
        yield from (" " * _INDENT + line for line in _wrapped("-> " + finding.todo, width))


def verdict(examined: Sequence[Examined]) -> str:
    """The last line."""
    bad, seconds = sum(each.bad for each in examined), sum(each.seconds for each in examined)
    words = "everything works" if not bad else "one thing is bad" if bad == 1 else f"{bad} things are bad"
    return f"{words}; {seconds:.0f} s"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(20, width - _INDENT), break_long_words=False, break_on_hyphens=False) or [""]
