"""What a network reads: the matrices it is made of, their bytes, their forms."""

from __future__ import annotations

from collections import Counter

from ..layers.reached import linears
from ..networks.dual_ar import DualAR


def frame_reads(model: DualAR) -> dict[str, int]:
    """Bytes of weights that one frame reads, whatever the batch: `slow`, `head`, `fast` (all its passes together)."""
    passes = model.config.num_codebooks - 1
    fast = nbytes(model.fast.transformer) + nbytes(model.fast.output)
    return {"slow": nbytes(model.slow.transformer), "head": nbytes(model.slow.head), "fast": passes * fast}


def nbytes(part) -> int:
    """Bytes in memory of the matrices in `part`."""
    return sum(linear.nbytes for linear in linears(part))


def forms(part) -> dict[str, int]:
    """How many matrices have each form: `dense`, `host`, `compiled`, `float`, `affine`, `blocks`, `rawblocks`."""
    return dict(Counter(type(linear.form).__name__.lower() for linear in linears(part)).most_common())
