"""What a network reads: the matrices it is made of, their bytes, their forms. Finds them by walking the objects, so it
knows no network from inside but the names of its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..layers.linear import Linear
from ..networks.dual_ar import DualAR


def linears(root) -> Iterator[Linear]:
    """Every `Linear` reachable through attributes and lists of this package's objects, each once."""
    seen, todo = set(), [root]
    while todo:
        thing = todo.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, Linear):
            yield thing
        elif isinstance(thing, (list, tuple)):
            todo.extend(thing)
        elif type(thing).__module__.startswith("s2mlx.") and hasattr(thing, "__dict__"):
            todo.extend(vars(thing).values())


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
