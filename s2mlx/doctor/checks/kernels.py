"""Every Metal kernel, built here and compared with plain MLX, for every format and row count."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from ... import device
from ...kernels.blocks import FORMATS
from ..cases import FAMILIES, ROWS, opened, products
from ..finding import Finding, bad, good, note
from ..side_by_side import Work, compare

BUDGET = 70.0  # s; building takes the time, and how much depends on the chip
_TODO = (
    "speaking works, plain MLX takes its place and is slower; make a report (s2mlx doctor --report) and attach it to "
    "an issue"
)


def run() -> Iterator[Finding]:
    if not device.kernels_available():
        yield note("not here: they need a Mac's GPU, and S2MLX_KERNELS not set to off; plain MLX computes")
        return
    end = time.perf_counter() + BUDGET
    for format, about in FORMATS.items():
        named = [
            (f"{rows} rows" if rows > 1 else "1 row", work) for rows in ROWS for work in products(int(format), rows)
        ]
        named += [("opening", work) for work in opened(int(format))]
        yield family(about.name, named, end)
    for name, cases in FAMILIES:
        yield family(name, cases(), end)


def family(name: str, cases: Iterable[tuple[str, Work]], end: float) -> Finding:
    """One line for kernels that belong together. After `end` no more are tried, and it says so."""
    began, worst, tried, wrong = time.perf_counter(), 0.0, 0, []
    skipped = 0
    for what, work in cases:
        if time.perf_counter() > end:
            skipped += 1
            continue
        found = compare(work)
        tried += 1
        worst = max(worst, found.error)
        if found.fault:
            wrong.append(f"{what}: {found.fault}")
    seconds = time.perf_counter() - began
    figures: dict[str, Any] = {
        "family": name,
        "tried": tried,
        "skipped": skipped,
        "worst": worst,
        "seconds": seconds,
        "wrong": wrong,
    }
    if wrong:
        return bad(f"{name}: {len(wrong)} of {tried} are wrong; {wrong[0]}", _TODO, **figures)
    if skipped:
        return note(f"{name}: {tried} are right, {skipped} were not tried: building takes long here", **figures)
    return good(f"{name}: {tried} are right (within {worst:.0e}), built and run in {seconds:.1f} s", **figures)
