"""Measure a model on this machine: milliseconds a frame and its parts, codec, memory, time to first audio."""

from __future__ import annotations

from . import model


def configure(parser) -> None:
    parser.add_argument("name", nargs="?", metavar="MODEL", help=model.POSITIONAL)
    model.add_options(parser)
    model.add_manners(parser, json="print one JSON object")


def run(args, console) -> int:
    from .. import bench

    return bench.run(args.name or args.model, tokenizer=args.tokenizer, compat=args.compat, json=args.json)
