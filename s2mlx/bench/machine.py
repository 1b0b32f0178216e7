"""What a machine can do: its memory bandwidth, measured; and what Apple's chips could do at best, computed.

One frame reads the Slow-AR once, its restricted head once and the Fast-AR once per residual code; nothing but the
memory bounds how fast that goes. So bytes per frame over bytes per second is a time that no program can beat at
batch 1.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import mlx.core as mx
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from ..config import CodecConfig, ModelConfig
from ..layers.matmul import matmul
from ..weights import KNOWN
from ..weights.facts import kv_cache_bytes
from ..weights.mixes import type_of
from . import inventory

# Nominal memory bandwidth, GB/s, as Apple states it; where a chip comes with two, both.
CHIPS = {
    "M1": 68,
    "M1 Pro": 200,
    "M1 Max": 400,
    "M1 Ultra": 800,
    "M2": 100,
    "M2 Pro": 200,
    "M2 Max": 400,
    "M2 Ultra": 800,
    "M3": 100,
    "M3 Pro": 150,
    "M3 Max (30-core GPU)": 300,
    "M3 Max (40-core GPU)": 400,
    "M3 Ultra": 819,
    "M4": 120,
    "M4 Pro": 273,
    "M4 Max (32-core GPU)": 410,
    "M4 Max (40-core GPU)": 546,
    "M5": 153,
    "M5 Pro": 307,
    "M5 Max (32-core GPU)": 460,
    "M5 Max (40-core GPU)": 614,
}
MACS = (8, 16, 24, 32, 36, 48, 64)  # GB of memory that they come with
FORMATS = ("q8_0", "q6_k", "q4_k_m", "q2_k")
POSITIONS = 500  # of the KV cache in the bounds: a reference of 10 s and some speech
_KV_BYTES = 2  # where the kernels run, the cache holds float16


@dataclass(frozen=True)
class Bound:
    """The best a bandwidth allows. rtf: seconds of work per second of speech; below 1 is faster than real time."""

    frames_per_second: float
    rtf: float


def measure_bandwidth(mebibytes: int = 256, repeat: int = 5) -> float:
    """Bytes per second between this device and its memory: the best of a few sums, copies and products with a vector of
    a large array."""
    data = mx.ones((1 << 10, mebibytes << 8), mx.float32)
    vector = mx.ones((1, data.shape[0]), mx.float32)
    mx.eval(data, vector)
    work = (
        (lambda: matmul(vector, data), data.nbytes),
        (lambda: mx.sum(data, axis=1), data.nbytes),
        (lambda: data + data, 2 * data.nbytes),
    )
    best = 0.0
    for _ in range(repeat):
        for make, moved in work:
            began = time.perf_counter()
            mx.eval(make())
            best = max(best, moved / (time.perf_counter() - began))
    return best


def frame_bytes(config: ModelConfig, type: str, positions: int = POSITIONS) -> int:
    """Bytes that one frame must read when the matrices are of `type` (`q6_k`, ..., or the mix `q4_k_m`)."""
    (slow, _), passes = config.transformers, config.num_codebooks - 1
    total = 2 * slow.layers * slow.kv_heads * slow.head_dim * _KV_BYTES * positions
    for part in inventory.networks(config):
        weights = part.size
        if part.name == "embeddings.weight":  # the output head: only rows that can be sampled are read
            weights = (config.semantic_end - config.semantic_begin + 2) * slow.dim
        elif not part.matrix or "embeddings" in part.name:  # a few rows, or nothing to speak of
            continue
        block, size = GGML_QUANT_SIZES[type_of(part.name, type, config)]
        total += weights // block * size * (passes if part.name.startswith("fast_") else 1)
    return total


def bound(config: ModelConfig, bytes_per_frame: int, bandwidth: float) -> Bound:
    """bandwidth in bytes per second. The codec's own work, small beside the frame's, is left out."""
    codec, seconds = config.codec or CodecConfig(), bytes_per_frame / bandwidth
    return Bound(1 / seconds, seconds * codec.sample_rate / codec.frame_samples)


def chips(config: ModelConfig = ModelConfig()) -> list[dict]:
    """A row for each of Apple's chips: bandwidth in GB/s and the bound of each format."""
    sizes = {f: frame_bytes(config, f) for f in FORMATS}
    return [
        {"chip": chip, "bandwidth": gb, "bounds": {f: vars(bound(config, n, gb * 1e9)) for f, n in sizes.items()}}
        for chip, gb in CHIPS.items()
    ]


def chips_table(config: ModelConfig = ModelConfig()) -> str:
    """`chips` as a Markdown table: frames/s and real-time factor of each format."""
    heads = [f"{f} ({frame_bytes(config, f) / 1e9:.1f} GB)" for f in FORMATS]
    lines = ["| chip | GB/s | " + " | ".join(heads) + " |", "|---|--:|" + "--:|" * len(heads)]
    for row in chips(config):
        cells = [f"{b['frames_per_second']:.0f} /s, {b['rtf']:.2f}" for b in row["bounds"].values()]
        lines.append(f"| {row['chip']} | {row['bandwidth']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def file_bytes(config: ModelConfig, type: str) -> int:
    """Bytes of the tensors in a file of `type`: what is no matrix is float16, as in the published ones."""
    total = 0
    for part in inventory.tensors(config):
        block, size = GGML_QUANT_SIZES[type_of(part.name, type, config) if part.matrix else GGMLQuantizationType.F16]
        total += part.size // block * size
    return total


def files(config: ModelConfig = ModelConfig()) -> list[dict]:
    """A row for each published file of S2 Pro.

    bytes: to fetch. memory: what it needs, as `s2mlx info` counts it where the kernels run. mac: the least memory of a
    Mac, in GB, that leaves as much again for the codec, the system and other programs.
    """
    rows = []
    for name, (_, file) in KNOWN.items():
        if file is not None:
            fetched = file_bytes(config, name.removeprefix("s2-pro-"))
            needed = fetched + kv_cache_bytes(config)
            rows.append(
                {"name": name, "bytes": fetched, "memory": needed, "mac": next(m for m in MACS if m << 29 >= needed)}
            )
    return rows


def files_table(config: ModelConfig = ModelConfig()) -> str:
    """`files` as a Markdown table."""
    lines = ["| model | download | needs | a Mac with at least |", "|---|--:|--:|--:|"]
    for row in files(config):
        sizes = f"{row['bytes'] / 1e9:.1f} GB | {row['memory'] / 1e9:.1f} GB"
        lines.append(f"| `{row['name']}` | {sizes} | {row['mac']} GB |")
    return "\n".join(lines)
