"""Times frames of one model file, in a process of its own: what `checks/frame.py` starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..bench import process

POSITIONS = 64


def main(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """{frame, low, high, loading: seconds; layers, fast_layers; logits: some of the first frame's; peak: bytes}."""
    import time

    import mlx.core as mx

    from ..bench import speed
    from ..networks.dual_ar import State
    from ..networks.load import load_model

    began = time.perf_counter()
    model = load_model(Path(job["path"])).dual_ar
    loading = time.perf_counter() - began
    cache = model.new_cache()
    outputs = model.prefill(speed.prompt(model, POSITIONS), cache)
    assert outputs is not None  # nobody cancels
    frame = mx.full((1, 1 + model.config.num_codebooks), 7, mx.int32)
    _, last = model.step(State(frame[0, :1], frame, frame), cache)
    logits = model.slow.logits(last)[0, ::32].tolist()
    times, _ = speed.frames(model, POSITIONS, job["frames"])
    yield {
        "frame": times.median,
        "low": times.low,
        "high": times.high,
        "layers": len(model.slow.transformer.blocks),
        "fast_layers": len(model.fast.transformer.blocks),
        "loading": loading,
        "logits": logits,
        "peak": mx.get_peak_memory(),
    }


if __name__ == "__main__":
    process.serve(main)
