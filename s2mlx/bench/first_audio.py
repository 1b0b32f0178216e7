"""Time to first audio in a fresh process, broken into its parts: `measure` starts the process, `main` is what it runs.

Stopwatches around the engine's own functions time what `load` and `stream` really do, on whatever thread it happens.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict

from . import process

TEXT = "This is how long it takes until you hear me."


_VOICE_SECONDS = 10.0


def measure(
    path, *, tokenizer=None, compat: str | None = None, memory_limit: int | None = None, text: str = TEXT
) -> dict:
    """Seconds of the parts, in a voice of ten seconds: for the first request after the start of Python (`cold`), for
    the next one (`warm`), and for the first of another process, which finds the voice prefilled on the disk (`kept`),
    each with its `total`. For a request whose text is written meanwhile, the seconds from the end of its first
    sentence to the first sound (`piped`). And `memory` in bytes: of the weights, the peak of loading as MLX counts it,
    and the most that the process had.

    Cold means a new process; whether the file is still in the system's cache is not ours to say."""
    load = process.load_arguments(path, tokenizer, compat, memory_limit)
    with tempfile.TemporaryDirectory(prefix="s2mlx-bench-") as folder:
        variables = {"XDG_CACHE_HOME": folder}
        [first] = process.run(__name__, {"load": load, "text": text, "began": time.time()}, variables)
        [again] = process.run(__name__, {"load": load, "text": text, "began": time.time()}, variables)
    return first | {"kept": again["cold"]}


def main(job: dict) -> dict:
    cold = {"python": time.time() - job["began"]}
    began = time.perf_counter()
    import mlx.core as mx

    import s2mlx
    from s2mlx.codec.codec import CodecStream
    from s2mlx.networks import load
    from s2mlx.networks.dual_ar import DualAR
    from s2mlx.request import conversation
    from s2mlx.request.disk_prefixes import DiskPrefixes

    cold["imports"] = time.perf_counter() - began
    watch = _Stopwatch()
    for part, owner, name in (
        ("open", load, "open_checkpoint"),
        ("tokenizer", load, "load_tokenizer"),
        ("prompt", conversation, "build_prompt"),
        ("disk", DiskPrefixes, "read"),
        ("prefill", DualAR, "prefill"),
        ("codec", CodecStream, "decode"),
    ):
        watch.around(part, owner, name)

    began = time.perf_counter()
    tts = s2mlx.load(**job["load"])
    loading = time.perf_counter() - began
    cold |= {part: watch.seconds(part) for part in ("open", "tokenizer")}
    cold["networks"] = loading - cold["open"] - cold["tokenizer"]
    [beside] = tts.on_engine(lambda engine, _: iter([engine.model.host_bytes]))  # what MLX does not count
    memory = {"weights": tts.memory, "load_peak": mx.get_peak_memory() + beside}
    with tts:
        voice = _voice(tts)
        cold |= _first_chunk(tts, watch, job["text"], voice)
        cold["total"] = time.time() - job["began"]
        warm = _first_chunk(tts, watch, job["text"], voice)
        warm["total"] = sum(warm.values())
        piped = _piped(tts, job["text"])
    memory["process_peak"] = process.peak_memory()
    return {"cold": cold, "warm": warm, "piped": piped, "memory": memory}


def _voice(tts):
    """One that says nothing in particular, always the same: as long as the model takes, ten seconds at most."""
    import numpy as np

    import s2mlx

    config = tts.config
    frames = int(min(_VOICE_SECONDS, 0.9 * config.reference_seconds) * tts.sample_rate / tts.frame_samples)
    sizes = [config.semantic_end - config.semantic_begin + 1, *[64] * (tts.num_codebooks - 1)]
    codes = np.stack([np.random.default_rng(0).integers(0, min(size, 64), frames) for size in sizes])
    return s2mlx.Voice(codes.astype(np.int32), "The words of a voice. " * 6, tts.sample_rate, config.codebook_size)


def _first_chunk(tts, watch: _Stopwatch, text: str, voice) -> dict:
    watch.calls.clear()
    began = time.perf_counter()
    stream = tts.stream(text, voice=voice, seed=1, min_frames=4, max_frames=4)
    while not len(next(stream).samples):
        pass
    total = time.perf_counter() - began
    parts = {part: watch.seconds(part) for part in ("prompt", "disk", "prefill")}
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
