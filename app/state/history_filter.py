"""Which utterances of the history are wanted: by words, and by voice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .history import HistoryEntry

OWN_VOICE = ""  # stands for the model's own voice


@dataclass(frozen=True)
class HistoryFilter:
    """`words`: each is in the text, a name of voice or model, the day or the seed. `voice` speaks in it; None: any."""

    words: str = ""
    voice: str | None = None

    def __bool__(self) -> bool:
        return bool(self.words.strip()) or self.voice is not None

    def matches(self, entry: HistoryEntry) -> bool:
        if self.voice is not None and self.voice not in (entry.voices or (OWN_VOICE,)):
            return False
        written = " ".join((entry.text, *entry.voices, entry.model_name, entry.when, str(entry.seed))).casefold()
        return all(word in written for word in self.words.casefold().split())


def next_voice(entries: Sequence[HistoryEntry], voice: str | None) -> str | None:
    """The voice after this one of those that spoke in these, each once; None, for any voice, closes the circle."""
    known = sorted({name for entry in entries for name in entry.voices or (OWN_VOICE,)})
    circle: list[str | None] = [None, *known]
    return circle[(circle.index(voice) + 1) % len(circle)] if voice in circle else None
