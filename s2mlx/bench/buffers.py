"""Whether fewer command buffers are faster on this Mac: the same frames with MLX's limits and with ours, each in a
process of its own, since MLX reads them once. See `traffic` for what they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from . import process, traffic

LIMITS = {"few": traffic.OURS, "many": traffic.MLX_LIMITS["Max, Ultra"]}


def measure(
    path, *, frames: int, positions: int, tokenizer=None, compat: str | None = None, memory_limit: int | None = None
) -> dict[str, dict]:
    """By name of the limits: {limits, frame: Times as a dictionary, prompt_peak: the most bytes that MLX had while it
    read a prompt of `positions`}."""
    load = process.load_arguments(path, tokenizer, compat, memory_limit)
    found = {}
    for name, (operations, megabytes) in LIMITS.items():
        limits = {"MLX_MAX_OPS_PER_BUFFER": str(operations), "MLX_MAX_MB_PER_BUFFER": str(megabytes)}
        (one,) = process.run(__name__, {"load": load, "frames": frames, "positions": positions}, limits)
        found[name] = {"limits": [operations, megabytes], **one}
    return found


def main(job: dict) -> Iterator[dict]:
    import mlx.core as mx

    from ..networks.load import load_model
    from . import speed

    load = job["load"]
    model = load_model(Path(load["model"]), load["tokenizer"], load["compat"], load["memory_limit"]).dual_ar
    mx.reset_peak_memory()
    speed.prefill(model, job["positions"], tries=1)
    peak = mx.get_peak_memory()
    times, _ = speed.frames(model, job["positions"], job["frames"])
    yield {"frame": vars(times), "prompt_peak": peak}


if __name__ == "__main__":
    process.serve(main)
