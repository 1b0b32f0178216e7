"""A frame of S2 Pro's widths and few layers: with kernels and without, in command buffers of two sizes.

Each way is measured in a process of its own, since MLX reads its variables once. The weights are random.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ... import device
from ...bench import process, synthetic
from ...bench.synthetic import Shape
from ...config import FAST_AR, SLOW_AR, ModelConfig
from ...files import size
from ..finding import Finding, bad, good, note

LAYERS, TYPE = 2, "q4_k_m"
ROOM = 2 << 30  # bytes of disk that a test file and its neighbours need
# MLX's own limits are 40 or 50 launches and megabytes a buffer, by chip; see "Command buffers" in the bench's README
LARGE = {"MLX_MAX_OPS_PER_BUFFER": "1000", "MLX_MAX_MB_PER_BUFFER": "400"}
SMALL = {"MLX_MAX_OPS_PER_BUFFER": "50", "MLX_MAX_MB_PER_BUFFER": "50"}
FAR = 0.02  # relative distance of logits; keys and values in half precision make 0.002
_PLAIN = {"S2MLX_KERNELS": "off"}
_TODO = "make a report (s2mlx doctor --report) and attach it to an issue; S2MLX_KERNELS=off speaks without them"


def shape(layers: int = LAYERS, fast_layers: int = FAST_AR.layers, type: str = TYPE) -> Shape:
    """S2 Pro without its codec, in a vocabulary of 5120 words: the rows that no frame reads are left out."""
    config = replace(
        ModelConfig(name="S2 Pro's widths"),
        slow=replace(SLOW_AR, layers=layers),
        fast=replace(FAST_AR, layers=fast_layers),
        codec=None,
        vocab_size=5120,
        semantic_begin=1012,
        semantic_end=1012 + 4095,
        context_length=1024,
    )
    return Shape(config, type)


def run() -> Iterator[Finding]:
    ways, layers, frames = {"plain": _PLAIN}, (1, 1), 2  # what a CPU does in half a minute
    if device.kernels_available():
        ways, layers, frames = (
            {"kernels": LARGE, "kernels, small buffers": SMALL, "plain": _PLAIN | LARGE},
            (LAYERS, FAST_AR.layers),
            12,
        )
    with tempfile.TemporaryDirectory(prefix="s2mlx-doctor-") as folder:
        free = shutil.disk_usage(folder).free
        if free < ROOM:
            yield note(f"left out: {size(free)} of disk are free, {size(ROOM)} are needed", "TMPDIR names another disk")
            return
        path = str(synthetic.write_model(folder, shape(*layers)))
        found = {}
        for way, variables in ways.items():
            [found[way]] = process.run("s2mlx.doctor.one_frame", {"path": path, "frames": frames}, variables)
    yield from compared(found)


def compared(found: dict[str, dict[str, Any]]) -> Iterator[Finding]:
    """`found`: what `one_frame` says, by way."""
    for way, each in found.items():
        one = f"{each['frame'] * 1e3:.1f} ms ({each['low'] * 1e3:.1f} to {each['high'] * 1e3:.1f})"
        figures = {name: value for name, value in each.items() if name != "logits"}
        yield good(
            f"{way}: {one} a frame of {each['layers']} + {each['fast_layers']} layers, {TYPE}", way=way, **figures
        )
    ours, plain = found.get("kernels"), found["plain"]
    if ours is None:
        return
    a, b = (np.array(each["logits"]) for each in (ours, plain))
    error = float(np.linalg.norm(a - b) / np.linalg.norm(b))
    if not error <= FAR:
        yield bad(f"with kernels the logits are {error:.1%} from plain MLX's", _TODO, error=error)
    else:
        yield good(f"with kernels the logits are plain MLX's (to {error:.1e})", error=error)
    gain = plain["frame"] / ours["frame"]
    text = f"kernels are {gain:.2f} x as fast as plain MLX"
    yield (
        good(text, gain=gain)
        if gain >= 1
        else note(text, "S2MLX_KERNELS=off is faster here: please tell us", gain=gain)
    )
    buffers = found["kernels, small buffers"]["frame"] / ours["frame"]
    text = f"command buffers of 1000 launches are {buffers:.2f} x as fast as of 50"
    if buffers < 0.97:
        yield note(text, "MLX_MAX_OPS_PER_BUFFER=50 MLX_MAX_MB_PER_BUFFER=50 is faster here", buffers=buffers)
    else:
        yield good(text, buffers=buffers)
