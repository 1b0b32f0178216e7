"""Time to first audio in a fresh process, broken into its parts: `measure` starts the process, `main` is what it runs.

Stopwatches around the engine's own functions time what `load` and `stream` really do, on whatever thread it happens.
"""

from __future__ import annotations

import time
from collections import defaultdict

from . import process

TEXT = "This is how long it takes until you hear me."


def measure(
    path, *, tokenizer=None, compat: str | None = None, memory_limit: int | None = None, text: str = TEXT
) -> dict:
    """Seconds of the parts, for the first request after the start of Python (`cold`) and for the next one (`warm`),
    each with its `total`; for a third one, whose text is written meanwhile, the seconds from the end of its first
    sentence to the first sound (`piped`); and `memory` in bytes: of the weights, the peak of loading as MLX
    counts it, and the most that the process had.

    Cold means a new process; whether the file is still in the system's cache is not ours to say."""
    load = process.load_arguments(path, tokenizer, compat, memory_limit)
    [found] = process.run(__name__, {"load": load, "text": text, "began": time.time()})
    return found


def main(job: dict) -> dict:
    cold = {"python": time.time() - job["began"]}
    began = time.perf_counter()
    import mlx.core as mx

    import s2mlx
    from s2mlx.codec.codec import CodecStream
    from s2mlx.networks import load
    from s2mlx.networks.dual_ar import DualAR
    from s2mlx.request import conversation

    cold["imports"] = time.perf_counter() - began
    watch = _Stopwatch()
    for part, owner, name in (
        ("open", load, "open_checkpoint"),
        ("tokenizer", load, "load_tokenizer"),
        ("prompt", conversation, "build_prompt"),
        ("prefill", DualAR, "prefill"),
        ("codec", CodecStream, "decode"),
    ):
        watch.around(part, owner, name)

    began = time.perf_counter()
    tts = s2mlx.load(**job["load"])
    loading = time.perf_counter() - began
    cold |= {part: watch.seconds(part) for part in ("open", "tokenizer")}
    cold["networks"] = loading - cold["open"] - cold["tokenizer"]
    memory = {"weights": tts.memory, "load_peak": mx.get_peak_memory()}
    with tts:
        cold |= _first_chunk(tts, watch, job["text"])
        cold["total"] = time.time() - job["began"]
        warm = _first_chunk(tts, watch, job["text"])
        warm["total"] = sum(warm.values())
        piped = _piped(tts, job["text"])
    memory["process_peak"] = process.peak_memory()
    return {"cold": cold, "warm": warm, "piped": piped, "memory": memory}


def _first_chunk(tts, watch: _Stopwatch, text: str) -> dict:
    watch.calls.clear()
    began = time.perf_counter()
    stream = tts.stream(text, seed=1, min_frames=4, max_frames=4)
    while not len(next(stream).samples):
        pass
    total = time.perf_counter() - began
    parts = {part: watch.seconds(part) for part in ("prompt", "prefill")}
    codec_begin, codec_end = watch.calls["codec"][0]
    parts["first frame"] = codec_begin - watch.calls["prefill"][-1][1]
    parts["codec"] = codec_end - codec_begin
    for _ in stream:  # to its end, so that nothing of it runs into the next request
        pass
    return parts | {"rest": total - sum(parts.values())}


def _piped(tts, text: str) -> float:
    """As for `s2mlx say` at the end of a pipe whose writer rests behind a line."""
    import s2mlx

    with s2mlx.SpeechInput() as written:
        stream = tts.stream(written, seed=1, min_frames=4, max_frames=4)
        written.write(text[:-1])
        time.sleep(2 * s2mlx.SpeechInput().patience)  # the beginning alone is nothing to say
        began = time.perf_counter()
        written.write(text[-1:] + "\n")
        while not len(next(stream).samples):
            pass
        total = time.perf_counter() - began
    for _ in stream:
        pass
    return total


class _Stopwatch:
    """calls: part -> (begin, end) of every call, in seconds of `time.perf_counter`."""

    def __init__(self):
        self.calls: dict[str, list[tuple[float, float]]] = defaultdict(list)

    def around(self, part: str, owner, name: str) -> None:
        real = getattr(owner, name)

        def timed(*arguments, **named):
            began = time.perf_counter()
            try:
                return real(*arguments, **named)
            finally:
                self.calls[part].append((began, time.perf_counter()))

        setattr(owner, name, timed)

    def seconds(self, part: str) -> float:
        return sum(end - begin for begin, end in self.calls[part])


if __name__ == "__main__":
    process.serve(lambda job: [main(job)])
