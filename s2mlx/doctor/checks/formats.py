"""Whether MLX opens every format of weights to the very numbers that it stands for, and multiplies by them."""

from __future__ import annotations

from collections.abc import Iterator

import mlx.core as mx
import numpy as np
from gguf import quants
from gguf.constants import GGMLQuantizationType

from ...kernels.blocks import FORMATS, sample_blocks
from ...weights.block_formats import decode
from ..finding import Finding, bad, good

_TODO = "speech would be noise with such a file: make a report (s2mlx doctor --report) and attach it to an issue"


def run() -> Iterator[Finding]:
    exact: list[str] = []
    wrong: list[str] = []
    for format, about in FORMATS.items():
        (exact if opens_exactly(int(format)) else wrong).append(about.name)
    if wrong:
        yield bad(f"not opened exactly: {', '.join(wrong)}", _TODO, wrong=wrong)
    if exact:
        yield good(f"opened exactly: {', '.join(exact)}", exact=exact)


def opens_exactly(format: int) -> bool:
    kind = GGMLQuantizationType(format)
    raw = sample_blocks(format, 16, 512)
    wanted = np.array(raw).view(np.float32) if kind.name == "F32" else quants.dequantize(np.array(raw), kind)
    return bool(mx.array_equal(decode(raw, kind), mx.array(wanted)))
