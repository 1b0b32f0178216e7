"""Several texts in one request, each with a seed of its own: versions of one text, or what is missing of a long one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..options import Options
from ..results import AudioChunk
from ..voices.voice import Voice
from ..worker import Aside
from .engine import Engine
from .listener import Judge
from .pass_source import PassSource
from .passes import PlannedPass

Numbered = tuple[int, AudioChunk]


def speak_each(
    engine: Engine,
    texts: Sequence[tuple[str, int]],
    voices: list[Voice],
    options: Options,
    keep_going: Callable[[], bool],
    lead: Callable[[], float] | None = None,
    open_judge: Callable[[], Judge] | None = None,
    follow: bool = False,
) -> Iterator[Numbered | Aside]:
    """(number of the text, chunk) in order. texts: each with its seed. follow: they are the parts of one text.

    They share each read of the weights, as the passes of a long text do, where none needs another: texts that do not
    follow each other go one after the other when they name speakers, bring no voice, or are heard by `open_judge`.
    """
    planned = [engine.plan(text) for text, _ in texts]
    dialogue = any(one.speaker is not None for passes in planned for one in passes)
    if not follow and (dialogue or not voices or open_judge is not None):
        for number, (text, seed) in enumerate(texts):
            for chunk in engine.speak(text, voices, options, seed, keep_going, lead, open_judge):
                yield chunk if isinstance(chunk, Aside) else (number, chunk)
            if not keep_going():
                return
        return
    of_text: list[int] = []
    passes: list[PlannedPass] = []
    for number, (own, (_, seed)) in enumerate(zip(planned, texts, strict=True)):
        for one in own:
            passes.append(replace(one, index=len(passes), own_seed=one.seed(seed)))
            of_text.append(number)
    source = PassSource(passes)
    for chunk in engine.speak(source, engine.fit(voices), options, texts[0][1], keep_going, lead, open_judge):
        yield chunk if isinstance(chunk, Aside) else (of_text[min(chunk.part, len(of_text) - 1)], chunk)
