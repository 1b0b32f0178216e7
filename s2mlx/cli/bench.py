"""Measure a model on this machine: prefill, ms a frame and its parts, codec, bytes, graph, time to first audio, memory.

Figures are medians (lowest to highest); the first tries are left out. See s2mlx/bench/README.md for what they mean.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import S2Error, UsageError, reason
from . import model
from .parser import Parser
from .terminal import Console


def configure(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", metavar="MODEL", help=model.POSITIONAL)
    model.add_options(parser)
    parser.option("--frames", type=int, default=8, metavar="N", help="frames to time; default 8")
    parser.option("--prompt", type=int, default=64, metavar="N", help="positions before them; default 64")
    parser.option(
        "--batch", type=_sizes, default=(), metavar="N,N,...", help="also time so many sequences in step, such as 1,2,4"
    )
    parser.option(
        "--stream",
        type=int,
        default=0,
        metavar="MINUTES",
        help="also stream so many minutes of speech, and show that memory stays the same",
    )
    parser.option(
        "--synthetic",
        choices=["full", "tiny"],
        yields_to=("model",),
        help="a model of random weights instead: full has S2 Pro's widths, few layers and takes 2 GB of disk",
    )
    parser.option(
        "--layers",
        type=int,
        default=2,
        metavar="N",
        only=(lambda args: args.synthetic == "full", "is of --synthetic full"),
        help="of --synthetic full; default 2",
    )
    parser.option(
        "--type",
        default="q8_0",
        metavar="TYPE,...",
        only=(lambda args: args.synthetic is not None, "is of --synthetic"),
        help="of --synthetic, each in turn: q8_0, q6_k, q4_k_m, f16, ...; default q8_0",
    )
    parser.option(
        "--nodes",
        action="store_true",
        only=(lambda args: not args.json, "is of the report; --json has the nodes already"),
        help="list the kinds of graph nodes too",
    )
    parser.option(
        "--chips", action="store_true", help="only print what each Apple chip's memory allows at best, for S2 Pro"
    )
    parser.option(
        "--files",
        action="store_true",
        help="only print what each published file of S2 Pro needs, and for which Mac it is",
    )
    parser.option(
        "--draft",
        metavar="TYPE",
        help="only measure in how many codes a copy of the Fast-AR in so few bits, such as q2_k, agrees with it",
    )
    parser.option(
        "--loading",
        action="store_true",
        help="only measure what loading takes, stage by stage up to the first sound; also of --synthetic",
    )
    parser.option(
        "--buffers",
        action="store_true",
        help="only print into how many command buffers MLX cuts a frame of S2 Pro, with its limits and with ours",
    )
    parser.option(
        "--heard",
        action="store_true",
        help="only speak the built-in sentences to a recognizer: word error rate, words skipped or doubled",
    )
    parser.option(
        "--convert",
        action="store_true",
        help="only measure what converting S2 Pro to each type takes on this machine (a few seconds each)",
    )
    model.add_manners(parser, json="print one JSON object with all figures (a list of them for several types)")


def run(args: argparse.Namespace, console: Console) -> int:
    if args.chips or args.files or args.buffers or args.convert:
        return _about_s2_pro(args, console)
    if args.draft is not None:
        return _draft(args, console)
    if args.heard:
        return _heard(args, console)
    if args.loading:
        return _loading(args, console)
    for name in ("frames", "prompt", "layers"):
        if getattr(args, name) < 1:
            raise UsageError(f"--{name} must be at least 1")
    if "stream" in args.given and args.stream < 1:
        raise UsageError("--stream takes a number of minutes, at least 1")
    results = [_measured(path, args, console) for path in _models(args, console)]
    console.clear()
    if args.json:
        print(json.dumps(results[0] if len(results) == 1 else results))
    return 0


def _draft(args: argparse.Namespace, console: Console) -> int:
    if idle := args.given - {"draft", "json", "debug", "quiet", "model", "tokenizer", "compat", "memory_limit"}:
        raise UsageError(f"--draft measures one thing only: leave out --{sorted(idle)[0].replace('_', '-')}")
    from ..bench import draft
    from ..weights import TYPES, find_model

    kind = args.draft.lower()
    if kind not in TYPES or kind.endswith("_m"):
        raise UsageError(
            f"--draft: no type {args.draft!r}; known: {', '.join(t for t in TYPES if not t.endswith('_m'))}"
        )
    found = draft.measure(
        find_model(model.named(args)).path,
        kind,
        tokenizer=args.tokenizer,
        compat=args.compat,
        memory_limit=args.memory_limit,
        progress=lambda what: console.progress(f"{what} ..."),
    )
    console.clear()
    print(json.dumps(found) if args.json else draft.text(found))
    return 0


def _loading(args: argparse.Namespace, console: Console) -> int:
    """Of one file, or of each synthetic one."""
    known = {"loading", "json", "debug", "quiet", "model", "tokenizer", "compat", "memory_limit"}
    if idle := args.given - known - {"synthetic", "layers", "type"}:
        raise UsageError(f"--loading measures one thing only: leave out --{sorted(idle)[0].replace('_', '-')}")
    if args.layers < 1:
        raise UsageError("--layers must be at least 1")
    from ..bench import loading

    results = []
    for path in _models(args, console):
        given = dict(tokenizer=args.tokenizer, compat=args.compat, memory_limit=args.memory_limit)
        found = loading.measure(path, **given, progress=lambda what: console.progress(f"measuring: {what} ..."))
        results.append(found)
        console.clear()
        if not args.json:
            print(loading.text(found), flush=True)
    if args.json:
        print(json.dumps(results[0] if len(results) == 1 else results))
    return 0


def _models(args: argparse.Namespace, console: Console) -> Iterator[Path]:
    """The files to measure; a synthetic one exists while it is measured."""
    if not args.synthetic:
        from ..weights import find_model

        yield find_model(model.named(args)).path
        return
    if args.name is not None or "model" in args.given:
        raise UsageError("--synthetic makes a model of its own: leave out the other")
    from ..bench import measure, synthetic
    from ..weights import TYPES

    kinds = args.type.lower().split(",")
    if wrong := [kind for kind in kinds if kind not in TYPES]:
        raise UsageError(f"--type: no type {wrong[0]!r}; known: {', '.join(TYPES)}")
    for kind in kinds:
        shape = synthetic.tiny(kind) if args.synthetic == "tiny" else synthetic.full(args.layers, kind)
        measure.check_room(shape.config, args.prompt, args.frames)
        with tempfile.TemporaryDirectory(prefix="s2mlx-bench-") as folder:
            console.progress(f"writing a synthetic model, {kind} ...")
            try:
                path = synthetic.write_model(folder, shape)
            except OSError as fault:
                raise S2Error(
                    f"cannot write the synthetic model into {os.path.dirname(folder)}: {reason(fault)}; "
                    "TMPDIR=FOLDER names another place"
                ) from fault
            yield path


def _measured(path: Path, args: argparse.Namespace, console: Console) -> dict[str, Any]:
    from .. import bench
    from ..bench import report

    found = bench.run(
        path,
        tokenizer=args.tokenizer,
        compat=args.compat,
        memory_limit=args.memory_limit,
        frames=args.frames,
        positions=args.prompt,
        batches=args.batch,
        minutes=args.stream,
        progress=lambda what: console.progress(f"measuring: {what} ..."),
    )
    console.clear()
    if not args.json:
        print(report.text(found))
        if args.nodes:
            print("\n" + report.nodes(found))
        print(flush=True)
    return found


def _heard(args: argparse.Namespace, console: Console) -> int:
    """What a recognizer hears of the model."""
    idle = args.given - {"heard", "model", "tokenizer", "compat", "memory_limit", "json", "debug", "quiet"}
    if idle:
        raise UsageError(f"--heard speaks sentences of its own: leave out --{sorted(idle)[0].replace('_', '-')}")
    from ..bench import heard
    from ..listen import check_ear

    check_ear()
    args.model = model.named(args)
    with model.open_model(args, console) as tts:
        found = heard.measure(tts, lambda what: console.progress(f"measuring: {what} ..."))
    console.clear()
    print(json.dumps(found) if args.json else heard.text(found))
    return 0


def _about_s2_pro(args: argparse.Namespace, console: Console) -> int:
    """Tables that need no model."""
    asked = next(name for name in ("chips", "files", "buffers", "convert") if getattr(args, name))
    if idle := args.given - {asked, "json", "debug", "quiet"}:
        raise UsageError(f"--{asked} measures no model: leave out --{sorted(idle)[0].replace('_', '-')}")
    if args.name is not None:
        raise UsageError(f"--{asked} is about S2 Pro: leave out {args.name}")
    from ..bench import converting, machine, traffic

    if args.convert:
        found = converting.table(lambda what: console.progress(f"measuring: {what} ..."))
        console.clear()
        print(json.dumps(found) if args.json else converting.text(found))
        return 0
    tables = {
        "chips": (machine.chips, machine.chips_table),
        "files": (machine.files, machine.files_table),
        "buffers": (traffic.rows, traffic.table),
    }
    rows, table = tables[asked]
    print(json.dumps(rows()) if args.json else table())
    return 0


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        sizes = (0,)
    if min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"takes whole numbers above 0 with commas between, not {text!r}")
    return sizes
