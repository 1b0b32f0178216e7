"""How a long text is cut into its parts."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import replace

from s2mlx.errors import UsageError
from s2mlx.options import Options

from ..engine.protocols import SpeechEngine
from ..state.reading import Reading, title_of


def planned(
    text: str, names: tuple[str, ...], options: Options, engine: SpeechEngine, chapters: Sequence[int], title: str = ""
) -> Reading:
    """A text cut into chapters, and these into the passes in which they are spoken. Raises UsageError."""
    from s2mlx.text import CHAPTER, Span, split_text

    from ..state.history import distinct_options

    parts: list[Span] = []
    begins: list[tuple[int, str]] = []
    spans = split_text(text, CHAPTER, chapters)
    speaker: int | None = None
    waiting: int | None = None  # where a chapter begins that has nothing to say: it goes with the next
    for begin, end in spans:
        begin, waiting = begin if waiting is None else waiting, None
        try:
            own = engine.plan(text[begin:end])
        except UsageError:
            if end == len(text) and not parts:
                raise
            waiting = begin
            continue
        if len(spans) > 1:
            begins.append((len(parts), title_of(text[begin:end].strip().splitlines()[0])))
        for one in own:
            speaker = one.speaker if one.speaker is not None else speaker
            parts.append(Span(begin + one.begin, begin + one.end, one.pause_after, speaker))
        parts[-1] = replace(parts[-1], pause_after=end < len(text))
    seed = secrets.randbits(32) if options.seed is None else options.seed
    return Reading(
        text,
        tuple(parts),
        seed,
        names,
        distinct_options(options),
        tuple(begins),
        title or title_of(text),
        engine.sample_rate,
        engine.name,
        time.strftime("%Y-%m-%dT%H:%M:%S"),
    )
