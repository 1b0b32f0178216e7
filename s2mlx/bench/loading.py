"""What loading a model takes, stage by stage and up to its first sound, each way the CPU has, turn by turn.

What is not opened while loading is read from the file when it is first used, so the first frame and the first sound
belong to it. Each try is a process of its own; the file is in the system's cache from the first one on.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from .. import device
from ..weights import compiled
from . import process

STAGES = ("file", "tokenizer", "codec", "AR", "first frame", "first sound")
_ROUNDS = 3


def measure(
    path,
    *,
    tokenizer=None,
    compat: str | None = None,
    memory_limit: int | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> dict[str, Any]:
    """{path, ways: {name: {stage: {wall, cpu} in seconds (medians), "memory": bytes}}}. The tokenizer is read while the
    codec is built, so the stages overlap there. Raises `S2Error`."""
    job = process.load_arguments(path, tokenizer, compat, memory_limit)
    ways = {"machine code": {"S2MLX_KERNELS": "on"}} if compiled.available() else {}
    if not device.on_gpu():
        ways["opened"] = {"S2MLX_KERNELS": "off"}
    found: dict[str, list[dict]] = {name: [] for name in ways or {"kernels": {}}}
    for turn in range(_ROUNDS):
        for name, tries in found.items():
            progress(f"loading, {name}, {turn + 1} of {_ROUNDS}")
            tries.extend(process.run(__name__, job, ways.get(name)))
    return {"path": str(path), "ways": {name: _middle(tries) for name, tries in found.items()}}


def _middle(tries: list[dict]) -> dict[str, Any]:
    stages: dict[str, Any] = {
        stage: {kind: statistics.median(each[stage][kind] for each in tries) for kind in ("wall", "cpu")}
        for stage in (*STAGES, "loading", "all")
        if stage in tries[0]
    }
    return stages | {"memory": max(each["memory"] for each in tries)}


def text(found: dict[str, Any]) -> str:
    """`measure` as a Markdown table."""
    ways = found["ways"]
    lines = [f"| seconds (of CPU time) | {' | '.join(ways)} |", f"|---|{'--:|' * len(ways)}"]
    for stage in (*STAGES, "loading", "all"):
        if stage in next(iter(ways.values())):
            cells = [f"{way[stage]['wall']:.2f} ({way[stage]['cpu']:.2f})" for way in ways.values()]
            lines.append(f"| {stage} | {' | '.join(cells)} |")
    memory = [f"{way['memory'] / 1e9:.2f} GB" for way in ways.values()]
    return "\n".join([*lines, f"| memory of the process | {' | '.join(memory)} |"])


def main(job: dict) -> dict[str, Any]:
    """One try, in this process."""
    from pathlib import Path

    import numpy as np

    from ..networks import load
    from ..networks.generate import Generation, generate
    from ..options import Sampling
    from . import speed

    found: dict[str, Any] = {}

    def timed(stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                return work(*arguments, **named)
            finally:
                found[stage] = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}

        return run

    for stage, name in (
        ("file", "open_checkpoint"),
        ("tokenizer", "load_tokenizer"),
        ("codec", "Codec"),
        ("AR", "DualAR"),
    ):
        setattr(load, name, timed(stage, getattr(load, name)))
    given = (Path(job["model"]), job["tokenizer"] and Path(job["tokenizer"]), job["compat"], job["memory_limit"])

    def everything() -> None:
        model = timed("loading", load.load_model)(*given)
        if model.config.slow is not None:
            once = Generation(speed.prompt(model.dual_ar, 8), 1, 1, 1)
            timed("first frame", lambda: list(generate(model.dual_ar, once, Sampling())))()
        if model.config.codec is not None:
            codes = np.zeros((model.config.codec.num_codebooks, 1), np.int32)
            timed("first sound", lambda: model.codec.stream().decode(codes))()

    timed("all", everything)()
    return found | {"memory": process.peak_memory()}


if __name__ == "__main__":
    process.serve(lambda job: [main(job)])
