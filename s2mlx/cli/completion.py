"""Print what makes a shell complete commands and options: `eval "$(s2mlx completion bash)"`, or into a file it reads.

For zsh and fish: `s2mlx completion zsh > FOLDER_OF_FPATH/_s2mlx`, `s2mlx completion fish >
~/.config/fish/completions/s2mlx.fish`.
"""

from __future__ import annotations

import argparse
from importlib import import_module

from .parser import Parser
from .terminal import Console

_SHELLS = ("bash", "zsh", "fish")
# options and words that name files
_FILES = {"output", "file", "codes", "clip", "ref", "tokenizer", "source", "target", "model"}


def configure(parser: Parser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=_SHELLS, help="bash, zsh or fish")
    parser.epilog = __doc__.split("\n\n", 1)[1]


def run(args: argparse.Namespace, console: Console) -> int:
    import shtab

    print(shtab.complete(_everything(shtab.FILE), args.shell))
    return 0


def _everything(files: object) -> Parser:
    """One parser of all commands, as argparse and the library see it."""
    from .main import COMMANDS

    whole = Parser(prog="s2mlx")
    commands = whole.add_subparsers()
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what)
        import_module(f".{name}", __package__).configure(command)
        for parser in (command, *command.actions.values()):
            for action in parser._actions:
                if action.dest in _FILES:
                    action.complete = files  # type: ignore[attr-defined]  # where the library looks
    return whole
