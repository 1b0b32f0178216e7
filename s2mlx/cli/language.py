"""Naming a language model on the command line."""

from __future__ import annotations

from ..language import DEFAULT_MODEL
from .parser import Parser


def add_options(parser: Parser) -> None:
    parser.shared(
        "--lm",
        metavar="PATH|NAME",
        help=f"the language model: a folder of mlx-lm, or owner/repo; default: {DEFAULT_MODEL}. "
        'Needs pip install "s2mlx[lm]"',
    )
