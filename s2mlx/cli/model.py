"""Opening a model for a command: its options, its notices."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..files import first_time
from ..weights import RECOMMENDED
from .parser import Parser
from .terminal import Console

if TYPE_CHECKING:
    from ..synthesizer import Synthesizer

POSITIONAL = "as for -m; default: the configured model, else the demo voice"
_S2_PRO = f"for S2 Pro: s2mlx download {RECOMMENDED}, then -m {RECOMMENDED} or S2MLX_MODEL={RECOMMENDED}"


def add_name(parser: Parser) -> None:
    parser.shared(
        "-m",
        "--model",
        metavar="PATH|NAME",
        help="GGUF file, checkpoint folder, owner/repo[:file], or a known name; default: that of s2mlx config, else "
        "the bundled voice",
    )


def add_options(parser: Parser, *, compat: bool = True, prefix_cache: bool = False) -> None:
    add_name(parser)
    parser.shared("--tokenizer", metavar="PATH", help="tokenizer.json when it is not beside the model")
    parser.shared(
        "--memory-limit",
        type=_gigabytes,
        metavar="GB",
        help="the most memory the model may take; default: the machine's",
    )
    if compat:
        parser.shared(
            "--compat", choices=["s2cpp"], help="numerics of s2.cpp: fp32 RoPE tables, references padded to 512 samples"
        )
    if prefix_cache:
        parser.shared(
            "--no-prefix-cache",
            action="store_true",
            help="read the voice anew: neither take nor keep what an earlier run has computed of it (see s2mlx cache)",
        )


def named(args: argparse.Namespace) -> str | None:
    """The model of a command that takes it as a word too: MODEL or -m, None when neither is given."""
    if args.name is not None and "model" in args.given:
        raise UsageError(f"MODEL and -m name a model each ({args.name}, {args.model}); leave one out")
    name: str | None = args.model if args.name is None else args.name
    return name


def given_options(args: argparse.Namespace) -> list[str]:
    """The words that make another command open the same model."""
    return [
        word
        for name in ("model", "tokenizer", "compat")
        if name in args.given
        for word in (f"--{name}", getattr(args, name))
    ]


def _gigabytes(word: str) -> int:
    """Bytes."""
    try:
        value = float(word)
    except ValueError:
        value = 0
    if not 1e-9 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"must be a number of gigabytes above 0, not {word!r}")
    return int(value * 1e9)


def add_manners(parser: Parser, *, json: str | None = None, quiet: bool = True) -> None:
    """--debug; --quiet where a command has notes or progress, --json where it has figures."""
    if json:
        parser.shared("--json", action="store_true", help=json)
    if quiet:
        parser.shared("--quiet", action="store_true", help="no progress and no notes; warnings and errors stay")
    parser.shared("--debug", action="store_true", help="show the traceback of an error")


# What a clone of the bundled model is, said before somebody reads aloud for it.
CLONES = "S2-nano keeps the pitch of a voice and how large it sounds, not its timbre; S2 Pro keeps that too"


def note_clones(tts: Synthesizer, console: Console) -> None:
    """Before a voice is made: what this model will keep of it."""
    if tts.is_demo:
        console.note(f"{CLONES} ({_S2_PRO})")


def open_model(args: argparse.Namespace, console: Console) -> Synthesizer:
    """The Synthesizer that the options ask for. When nobody chose, one line tells a person, once, of the demo voice."""
    import s2mlx

    console.progress("loading the model ...")

    shown = -1

    def progress(done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // total
        if percent >= shown + 5 or percent == 100:  # a line that is rewritten for every tensor only flickers
            shown = percent
            console.progress(f"loading the model, {percent} % ...")

    tts = s2mlx.load(
        args.model,
        tokenizer=args.tokenizer,
        compat=args.compat,
        memory_limit=args.memory_limit,
        on_progress=progress,
        prefix_cache=not getattr(args, "no_prefix_cache", False),  # who does not speak has none
    )
    console.clear()
    if console.on_terminal and tts.is_demo and args.model is None and first_time("demo-voice"):
        console.note(f"no model is configured, so this is the bundled demo voice ({tts.name}); {_S2_PRO}")
    return tts
