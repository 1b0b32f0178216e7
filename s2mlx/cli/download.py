"""Fetch a model into the shared Hugging Face cache and print its path."""

from __future__ import annotations

import argparse

from ..files import size
from ..weights import KNOWN, LICENCE, fetch_model, parse_name
from . import model
from .parser import Parser
from .terminal import Console, on_stdout


def configure(parser: Parser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="owner/repo, owner/repo:file, or a known name: " + ", ".join(KNOWN)
    )
    model.add_manners(parser)
    parser.epilog = (
        "The cache is where HF_HOME says; with HF_HUB_OFFLINE=1 what is there already is found.\n"
        "A download that was stopped goes on where it stopped.\n\n" + LICENCE
    )


def run(args: argparse.Namespace, console: Console) -> int:
    path = fetch_model(args.name, _Told(console), bars=console.live)
    console.clear()
    print(on_stdout(str(path)))
    if "s2-pro" in parse_name(args.name)[0].lower():
        console.note(LICENCE)
    return 0


class _Told:
    """What a download says, on the console."""

    def __init__(self, console: Console):
        self._console = console

    def asks(self, repository: str) -> None:
        self._console.progress(f"asking for {repository} ...")

    def begins(self, what: str, nbytes: int) -> None:
        """Where no progress is drawn, one line says what is going on; a download of gigabytes is silent otherwise."""
        self._console.clear()
        if not self._console.live:
            self._console.note(f"downloading {what} ({size(nbytes)}) ...")

    def warns(self, line: str) -> None:
        self._console.clear()
        self._console.warn(line)
