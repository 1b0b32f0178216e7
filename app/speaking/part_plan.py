"""How a long text is cut into its parts, and which words it says."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace

from s2mlx.errors import UsageError
from s2mlx.options import Options

from ..engine.protocols import SpeechEngine
from ..state.reading import Reading, title_of
from .spoken_audio import Script

_HEADING = re.compile(r"^ {0,3}#{1,6} \S", re.MULTILINE)


def planned(
    text: str,
    names: tuple[str, ...],
    options: Options,
    engine: SpeechEngine,
    chapters: Sequence[int],
    title: str = "",
    given: str = "",
) -> Reading:
    """A text cut into chapters, which begin at these characters too, and these into the passes in which they are
    spoken; `given`: the text with the signs that are not read aloud. Raises UsageError."""
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
        given=given if given != text else "",
    )


def words_and_chapters(text: str) -> tuple[str, list[int]]:
    """What is said of a text, and where chapters begin in it that the words do not show: Markdown's signs are not
    read aloud."""
    if not _HEADING.search(text):
        return text, []
    from s2mlx.text import read_chapters

    return read_chapters(text)


def one_of(readings: Sequence[Reading], words: str, script: Script, engine: SpeechEngine | None) -> Reading | None:
    """The latest that says these words, which are those of the script, in the same way."""
    from ..state.history import distinct_options

    options, seed = distinct_options(script.options), script.options.seed
    for one in reversed(readings):
        same = (one.text, one.voices, one.options) == (words, script.names, options)
        fits = engine is None or one.model_name in ("", engine.name)
        if same and fits and seed in (None, one.seed):
            return one
    return None
