"""Convert a model: the official checkpoint, an MLX folder or a GGUF file -> a GGUF file or a packed MLX folder.

S2 Pro in full takes some minutes of one core, which all cores share. Nothing is written over unless --force says so.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

from ..files import size
from . import model
from .interrupts import uninterrupted
from .parser import Parser
from .terminal import Console, on_stdout, seconds

if TYPE_CHECKING:
    from ..convert import Plan


def configure(parser: Parser) -> None:
    parser.add_argument("source", metavar="SRC", help="GGUF file or checkpoint folder; names as for -m elsewhere")
    parser.add_argument("target", metavar="DST", help="FILE.gguf, or the name of a folder in MLX's layout")
    parser.option(
        "--type",
        default="q8_0",
        metavar="TYPE",
        help="f32, f16, bf16, q8_0, q6_k, q5_k_m, q5_k, q4_k_m, q4_k, q3_k, q2_k, q5_1, q5_0, q4_1, q4_0; "
        "a folder: f32, f16, bf16, q8_0, q5_1, q4_1; default q8_0",
    )
    parser.option("--force", action="store_true", help="replace DST if it exists")
    model.add_manners(
        parser, json=("print one JSON object: {path, type, bytes, seconds, types: {TYPE: {tensors, bytes}}}")
    )


def run(args: argparse.Namespace, console: Console) -> int:
    from ..convert import convert
    from ..weights import LICENCE, find_model

    line = _ProgressLine(console)

    def announce(plan: Plan) -> None:
        line.begin()
        for text in plan.warnings:
            console.warn(text)
        for text in plan.notes:
            console.note(text)

    source, began = find_model(args.source).path, time.monotonic()
    made = convert(
        source,
        args.target,
        args.type,
        force=args.force,
        on_plan=announce,
        on_progress=line.show,
        hold=uninterrupted,
    )
    taken = time.monotonic() - began
    console.clear()
    if made.is_s2_pro:
        console.note(LICENCE)
    if args.json:
        print(
            json.dumps(
                {
                    "path": str(made.path),
                    "type": made.plan.type,
                    "bytes": made.nbytes,
                    "seconds": taken,
                    "types": made.plan.types(),
                }
            )
        )
    else:
        print(on_stdout(str(made.path)))
        console.summary(
            f"{size(made.plan.source_bytes)} -> {size(made.nbytes)} in {seconds(taken)}, "
            f"{made.plan.source_bytes / taken / 1e6:.0f} MB/s"
        )
    return 0


class _ProgressLine:
    """A line that says how far it is, how fast, and how long it will take; a few times a second."""

    def __init__(self, console: Console):
        self._console, self._began, self._next = console, 0.0, 0.0

    def begin(self) -> None:
        """The work begins now: what was read before is not its pace."""
        self._began = time.monotonic()
        self._next = self._began + 0.5

    def show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 0.2
        rate = done / max(now - self._began, 1e-3)
        self._console.progress(
            f"{100 * done // total} % of {size(total)}, {rate / 1e6:.0f} MB/s, {seconds((total - done) / rate)} left"
        )
