"""A long text read aloud in parts: what is to be said, by whom, and what there is of each part."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from s2mlx.errors import S2Error
from s2mlx.options import Options
from s2mlx.text import Span, clean_text, without_speakers

from .broken import Damaged

NAME = 60  # characters of a title made from the text


@dataclass(frozen=True)
class PartTake:
    """One try at a part: the sound is in `sound`, a file of its reading's folder. `reason`: why it ended."""

    seed: int
    seconds: float
    frames: int
    reason: str
    sound: str


@dataclass(frozen=True)
class PartSound:
    """What there is of a part: its takes, and which of them is in the whole."""

    takes: tuple[PartTake, ...] = ()
    at: int = 0

    @property
    def take(self) -> PartTake | None:
        return self.takes[self.at] if self.takes else None


@dataclass(frozen=True)
class Reading:
    """`parts` are the passes in which the text is spoken; part k has the seed `seed` + k at first. `chapters`: (number
    of the part with which it begins, its first words). `folder`: where its file is written when it is done, None:
    nowhere. `wanted`: it waits in the queue, to be made behind those with a lower `place`. `trouble`: why it could not
    go on."""

    text: str
    parts: tuple[Span, ...]
    seed: int
    voices: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)  # what differs from the defaults, the seed apart
    chapters: tuple[tuple[int, str], ...] = ()
    title: str = ""
    rate: int = 44100
    model_name: str = ""
    when: str = ""  # local time, ISO
    folder: str | None = None
    wanted: bool = False
    trouble: str = ""
    place: int = 0
    given: str = ""  # the text with its Markdown, where that differs
    id: str = field(default_factory=lambda: os.urandom(6).hex())

    def words(self, number: int) -> str:
        """What part `number` says, its speaker's tag with it."""
        return self.parts[number].words(self.text)

    def speech_options(self) -> Options:
        return Options(**self.options)

    def bare_words(self, number: int) -> str:
        """Without that tag."""
        return without_speakers(self.words(number))

    def speaker(self, number: int) -> int:
        return self.parts[number].speaker or 0

    @property
    def speakers(self) -> list[int]:
        """All of them, by number."""
        return sorted({self.speaker(number) for number in range(len(self.parts))})

    def as_table(self) -> dict[str, Any]:
        table = {one.name: getattr(self, one.name) for one in dataclasses.fields(self) if one.name != "id"}
        return table | {"parts": [[one.begin, one.end, one.pause_after, one.speaker] for one in self.parts]}


def title_of(text: str) -> str:
    """The first words of a text; its first line, where that is a heading."""
    words = " ".join(text.split())
    first = " ".join(text.strip().partition("\n\n")[0].split())
    if 0 < len(first) <= NAME and first[-1] not in ".!?":
        return first
    return words if len(words) <= NAME else words[: NAME - 1].rpartition(" ")[0] + "…"


def reading_of(stored: dict[str, Any], id: str) -> Reading:
    """What a file says. Raises Damaged."""
    try:
        text = clean_text(_a(str, stored["text"]))
        parts = tuple(_span(one, len(text)) for one in _a(list, stored["parts"]))
        chapters = tuple((_count(at), clean_text(_a(str, name))) for at, name in _a(list, stored.get("chapters", [])))
        folder = stored.get("folder")
        reading = Reading(
            text,
            parts,
            _count(stored["seed"]),
            tuple(_a(str, name) for name in _a(list, stored.get("voices", []))),
            _a(dict, stored.get("options", {})),
            tuple((at, name) for at, name in chapters if at < len(parts)),
            clean_text(_a(str, stored.get("title", ""))),
            _count(stored.get("rate", 44100)) or 44100,
            _a(str, stored.get("model_name", "")),
            _a(str, stored.get("when", "")),
            None if folder is None else _a(str, folder),
            _a(bool, stored.get("wanted", False)),
            _a(str, stored.get("trouble", "")),
            _count(stored.get("place", 0)),
            clean_text(_a(str, stored.get("given", ""))),
            id,
        )
        reading.speech_options()
    except (KeyError, TypeError, ValueError, S2Error) as fault:
        raise Damaged(f"it is no text in parts: {fault}") from None
    if not reading.parts:
        raise Damaged("it has no parts")
    return reading


def part_sound_of(stored: dict[str, Any]) -> PartSound:
    """What a file says of a part. Raises Damaged."""
    try:
        takes = tuple(
            PartTake(
                _count(one["seed"]),
                _seconds(one["seconds"]),
                _count(one["frames"]),
                _a(str, one["reason"]),
                _file_name(one["sound"]),
            )
            for one in _a(list, stored["takes"])
        )
        at = _count(stored.get("at", 0))
    except (KeyError, TypeError, ValueError) as fault:
        raise Damaged(f"it is no part: {fault}") from None
    if at >= len(takes):
        raise Damaged("it has no takes")
    return PartSound(takes, at)


def _a(kind: type, value: Any) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{value!r} is not what it should be")
    return value


def _count(value: Any) -> int:
    if _a(int, value) < 0 or value >= 1 << 64:
        raise ValueError(f"{value} is out of range")
    return int(value)


def _seconds(value: Any) -> float:
    number = float(value if isinstance(value, float) else _a(int, value))
    if not 0 <= number < 1e9:
        raise ValueError(f"{value} is out of range")
    return number


def _span(value: Any, characters: int) -> Span:
    begin, end, pause_after, speaker = _a(list, value)
    if not 0 <= _count(begin) <= _count(end) <= characters:
        raise ValueError("a part lies outside of the text")
    return Span(begin, end, _a(bool, pause_after), None if speaker is None else _count(speaker))


def _file_name(value: Any) -> str:
    if not _a(str, value) or Path(value).name != value or value.startswith("."):
        raise ValueError(f"{value!r} is no file name")
    return str(value)
