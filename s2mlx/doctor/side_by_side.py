"""Our kernels and plain MLX on the same numbers: which ran, what they said, how far apart their results are."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import mlx.core as mx

from ..kernels import metal

Work = Callable[[], list[mx.array]]
TOLERANCE = 5e-3  # of the largest value: sums in another order, and keys and values in half precision, stay below 1e-3


@dataclass
class Compared:
    """launched: names of the kernels that ran; refused: of those that were not trusted; warnings: why, told once a
    process. error: the largest difference, relative to the largest value, infinite where a result is no number;
    integers count as wrong or right."""

    launched: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    error: float = 0.0

    @property
    def right(self) -> bool:
        return bool(self.launched) and not self.refused and not self.warnings and self.error <= TOLERANCE

    @property
    def fault(self) -> str:
        """What is wrong, in words; empty where nothing is."""
        if self.right:
            return ""
        if self.warnings:
            return self.warnings[0]
        if self.refused:
            return f"{', '.join(sorted(self.refused))}: left aside"
        if not self.launched:
            return "no kernel ran"
        return f"off by {self.error:.1e} of the largest value"


def compare(work: Work) -> Compared:
    """`work` with kernels, then without; faults of MLX count as a warning."""
    found = Compared()
    with warnings.catch_warnings(record=True) as said, watched(found):
        warnings.simplefilter("always")
        try:
            ours = work()
            mx.eval(ours)
        except (RuntimeError, ValueError) as fault:
            found.warnings.append(str(fault).strip().splitlines()[0])
            return found
    found.warnings += [str(warning.message) for warning in said]
    with plain():
        theirs = work()
        mx.eval(theirs)
    found.error = max(difference(a, b) for a, b in zip(ours, theirs, strict=True))
    return found


def difference(a: mx.array, b: mx.array) -> float:
    if a.shape != b.shape or a.dtype != b.dtype:
        return float("inf")
    if not mx.issubdtype(a.dtype, mx.floating):
        return 0.0 if mx.array_equal(a, b) else float("inf")
    a, b = a.astype(mx.float32), b.astype(mx.float32)
    error = float(mx.max(mx.abs(a - b)) / (mx.max(mx.abs(b)) + 1e-9))
    return error if error == error else float("inf")


@contextmanager
def plain() -> Iterator[None]:
    """Within, plain MLX takes the kernels' place."""
    before = os.environ.get("S2MLX_KERNELS")
    os.environ["S2MLX_KERNELS"] = "off"
    try:
        yield
    finally:
        if before is None:
            del os.environ["S2MLX_KERNELS"]
        else:
            os.environ["S2MLX_KERNELS"] = before


@contextmanager
def watched(found: Compared) -> Iterator[None]:
    """Notes which kernels are launched within, and which are not trusted."""
    launch, trusted = metal.Kernel.__call__, metal.trusted

    def noting_launch(self: metal.Kernel, *arguments, **named):
        found.launched.add(self.name)
        return launch(self, *arguments, **named)

    def noting_trust(key, *arguments, **named):
        verdict = trusted(key, *arguments, **named)
        if not verdict and named.get("last", True) and not metal.trying():  # else another form is asked for, or none
            found.refused.add(str(key[0]))
        return verdict

    for owner, name, other in ((metal.Kernel, "__call__", noting_launch), (metal, "trusted", noting_trust)):
        setattr(owner, name, other)
    try:
        yield
    finally:
        for owner, name, own in ((metal.Kernel, "__call__", launch), (metal, "trusted", trusted)):
            setattr(owner, name, own)
