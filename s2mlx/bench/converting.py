"""What converting S2 Pro takes on this machine: a little of each type converted by all cores, the rest worked out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from gguf import quants
from gguf.constants import GGMLQuantizationType

from ..config import ModelConfig
from ..convert.encode import PIECE, convert, processors, workers
from ..weights.mixes import type_of
from . import inventory
from .machine import file_bytes

T = GGMLQuantizationType
TYPES = ("f16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k", "q2_k")
_COLUMNS = 2560
_LEAST = 1.0  # seconds that each type is measured for


def table(say: Callable[[str], None] = lambda what: None, config: ModelConfig = ModelConfig()) -> list[dict]:
    """{type, bytes, seconds, cores, core_seconds} for a file of each of `TYPES`, made from the official checkpoint
    (bfloat16): seconds by the clock with all cores, and of work, which other programs on the machine do not change.

    Reading and writing, which go on meanwhile, are left out: a slow disk takes its own time."""
    needed = {type: _weights(config, type) for type in TYPES}
    pace = {}
    for kind in sorted({kind for counts in needed.values() for kind in counts}):
        say(f"converting to {kind.name.lower()}")
        pace[kind] = _pace(kind)
    rows = []
    for type, counts in needed.items():
        seconds, work = (sum(count * pace[kind][i] for kind, count in counts.items()) for i in (0, 1))
        rows.append(
            dict(type=type, bytes=file_bytes(config, type), seconds=seconds, cores=processors(), core_seconds=work)
        )
    return rows


def text(rows: list[dict]) -> str:
    """`table` as a Markdown table."""
    lines = [
        f"| S2 Pro as | size | converting takes, on {rows[0]['cores']} cores | of one core |",
        "|---|--:|--:|--:|",
    ]
    for row in rows:
        times = f"{_minutes(row['seconds'])} | {_minutes(row['core_seconds'])}"
        lines.append(f"| {row['type']} | {row['bytes'] / 1e9:.1f} GB | {times} |")
    return "\n".join(lines)


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"


def _weights(config: ModelConfig, type: str) -> Counter:
    """How many weights of the model become of which type."""
    counts: Counter = Counter()
    for part in inventory.tensors(config):
        counts[type_of(part.name, type, config) if part.matrix else T.F16] += part.size
    return counts


def _pace(kind: T) -> tuple[float, float]:
    """Seconds a weight, by the clock and of work, with all cores busy on matrices as wide as S2 Pro's."""
    drawn = np.random.default_rng(0).standard_normal((PIECE // _COLUMNS, _COLUMNS), np.float32) * np.float32(0.02)
    rows = quants.quantize(drawn, T.BF16)
    one = lambda _: convert(rows, T.BF16, kind, "")
    several, done = 2 * processors(), 0
    with workers() as pool:
        list(pool.map(one, range(processors())))
        began, worked = time.perf_counter(), time.process_time()
        while time.perf_counter() - began < _LEAST:
            done += sum(len(made) for made in pool.map(one, range(several)))
        taken, worked = time.perf_counter() - began, time.process_time() - worked
    return taken / (done * _COLUMNS), worked / (done * _COLUMNS)
