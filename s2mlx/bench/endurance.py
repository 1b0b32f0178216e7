"""Whether speech can go on for ever: memory and speed after each minute of one long stream, in a process of its own.

`measure` starts the process, `main` is what it runs: the public API, a text that is far longer than the context.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from . import process

if TYPE_CHECKING:
    import s2mlx

TEXT = "The river runs on, and whoever sits beside it long enough hears the same water speak a different word. "
_SENTENCES = 60  # of one request; requests follow each other as long as they are needed


def measure(
    path,
    minutes: int,
    *,
    tokenizer=None,
    compat: str | None = None,
    memory_limit: int | None = None,
    each: float = 60.0,
    progress: Callable[[str], None] = lambda what: None,
) -> list[dict]:
    """Stream `minutes` of speech. After each `each` seconds of it: {speech, took: seconds so far, active: bytes that
    MLX holds, process: the most bytes that the process had so far}."""
    load = process.load_arguments(path, tokenizer, compat, memory_limit)
    job = {"load": load, "marks": round(60 * minutes / each), "each": each}
    marks = []
    for mark in process.run(__name__, job):
        marks.append(mark)
        progress(f"a long stream, {mark['speech'] / 60:.0f} of {minutes} minutes")
    return marks


def main(job: dict) -> Iterator[dict]:
    import mlx.core as mx

    import s2mlx

    with s2mlx.load(**job["load"]) as tts:
        began, speech, chunks = time.perf_counter(), 0.0, _endless(tts)
        for mark in range(1, job["marks"] + 1):
            while speech < mark * job["each"]:
                chunk = next(chunks)
                speech += len(chunk.samples) / chunk.sample_rate
            yield {
                "speech": speech,
                "took": time.perf_counter() - began,
                "active": mx.get_active_memory(),
                "process": process.peak_memory(),
            }
        chunks.close()


def _endless(tts: s2mlx.Synthesizer) -> Generator[s2mlx.AudioChunk, None, None]:
    seed = 0
    while True:
        yield from tts.stream(TEXT * _SENTENCES, seed=seed, min_frames=20)
        seed += 1


if __name__ == "__main__":
    process.serve(main)
