"""The terminal app: type, listen, record voices, keep takes."""

from __future__ import annotations

import argparse

from ..errors import UsageError
from . import model, references
from .parser import Parser, words
from .terminal import Console


def configure(parser: Parser) -> None:
    parser.takes_defaults = False  # the app keeps settings of its own; the model of the file it asks for itself
    parser.add_argument("text", nargs="*", type=words, metavar="TEXT", help="text to begin with")
    parser.add_argument(
        "-f",
        "--file",
        metavar="FILE|-",
        help="text to begin with; a FIFO, or - for a pipe on stdin, is spoken sentence by sentence as it comes",
    )
    model.add_options(parser, compat=False)
    references.add_one_voice(parser, "a saved voice or a .s2voice file")
    parser.shared("-a", "--device", metavar="DEV", help="output device, by number or part of its name")
    parser.shared("--debug", action="store_true", help="show the traceback of an error")


def run(args: argparse.Namespace, console: Console) -> int:
    if args.text and args.file is not None:
        raise UsageError("give TEXT or -f FILE, not both")
    import s2mlx_app

    code: int = s2mlx_app.run(
        model=args.model,
        tokenizer=args.tokenizer,
        voice=references.one_voice(args),
        device=args.device,
        text=" ".join(args.text) or None,
        file=args.file,
    )
    return code
