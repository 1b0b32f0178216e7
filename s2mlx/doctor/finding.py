"""What a check has to say, a line at a time."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

GOOD, BAD, NOTE = "ok", "bad", "note"


@dataclass(frozen=True)
class Finding:
    """One line. state: GOOD, BAD, or NOTE for what is neither. todo: what whoever reads a bad one can do. figures:
    numbers behind the words, for the report. private: words of the text that are nobody else's business, such as the
    name of a loudspeaker: the report leaves them out."""

    state: str
    text: str
    todo: str = ""
    figures: dict[str, Any] = field(default_factory=dict)
    private: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Finding:
        return cls(**{**data, "private": tuple(data["private"])})


def good(text: str, **figures: Any) -> Finding:
    return Finding(GOOD, text, figures=figures)


def bad(text: str, todo: str, **figures: Any) -> Finding:
    return Finding(BAD, text, todo, figures)


def note(text: str, todo: str = "", **figures: Any) -> Finding:
    return Finding(NOTE, text, todo, figures)
