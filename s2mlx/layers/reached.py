"""What a network is made of, found by walking its objects: so nothing here knows a network from inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gguf.constants import GGMLQuantizationType

from .forms import Compiled
from .linear import Linear

_OURS, _FILES = "s2mlx.", "s2mlx.weights."  # the second hold whole files: what waits there is nobody's weight yet


def reached(root: object) -> Iterator[Any]:
    """What attributes, lists and tuples of this package's objects lead to, each once."""
    seen: set[int] = set()
    todo: list[Any] = [root]
    while todo:
        thing = todo.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        module = type(thing).__module__
        if isinstance(thing, (list, tuple)):
            todo.extend(thing)
        elif isinstance(thing, np.ndarray):
            yield thing
        elif module.startswith(_OURS) and not module.startswith(_FILES) and hasattr(thing, "__dict__"):
            yield thing
            todo.extend(vars(thing).values())


def linears(root: object) -> list[Linear]:
    return [thing for thing in reached(root) if isinstance(thing, Linear)]


def host_bytes(root: object) -> int:
    """Bytes of weights that MLX does not count: in NumPy's memory, or in the mapped file, which a frame reads too."""
    longest: dict[int, int] = {}  # some are a part of others
    for array in (thing for thing in reached(root) if isinstance(thing, np.ndarray)):
        longest[array.ctypes.data] = max(array.nbytes, longest.get(array.ctypes.data, 0))
    return sum(longest.values())


def compiled_kinds(root: object) -> set[GGMLQuantizationType]:
    """The types of blocks that are multiplied in machine code."""
    return {kind for form in reached(root) if isinstance(form, Compiled) for _, kind in form.matrices}
