"""The knobs of a request as options of a command, made from the table in `options`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ..errors import UsageError
from ..options import KNOBS, Knob, Options
from .parser import Parser


def add_options(parser: Parser, **remarks: str) -> None:
    """All of them. remarks: what this command adds to the help of a knob."""
    for name, knob in KNOBS.items():
        help = knob.help + remarks.get(name, "")
        only = (attrgetter(knob.needs), f"is of --{knob.needs}") if knob.needs else None
        if knob.kind is bool:
            parser.shared(knob.option, action="store_true", only=only, help=help)
        else:
            help = f"{help}; default: {knob.default_words}"
            parser.shared(
                knob.option, type=_Word(knob), default=knob.default, metavar=knob.metavar, only=only, help=help
            )


def options(args: argparse.Namespace) -> Options:
    """The `Options` that a parsed command line asks for."""
    return Options(**{name: getattr(args, name) for name in KNOBS})


@dataclass(frozen=True)
class _Word:
    """A word of the command line -> the knob's value, as argparse wants it: it names the option, or its variable."""

    knob: Knob

    def __call__(self, word: str) -> Any:
        try:
            return self.knob.parse(word)
        except UsageError as fault:
            raise argparse.ArgumentTypeError(str(fault).removeprefix(self.knob.name + " ")) from None
