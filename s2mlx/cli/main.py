"""Entry point: picks the command, turns what it raises into one line and an exit code.

Exit codes: 0 done (also when the reader of stdout went away), 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from .. import __version__
from ..errors import S2Error, UsageError, reason
from .interrupts import INTERRUPTED, as_keyboard_interrupt, interrupted
from .parser import Parser, known_or_near
from .terminal import Console, StdoutError, named_stdout

# name -> (module in this folder, what it does). Each module has configure(parser) and run(args, console).
COMMANDS = {
    "say": "speak: play while it is generated, or write a file",
    "voice": "saved voices: add, list, show, rename, remove, restore, import, export",
    "ask": "a language model writes an answer, which is spoken as it comes",
    "direct": "a language model adds stage directions to a text",
    "record": "make a voice with the microphone",
    "devices": "input and output devices",
    "encode": "audio -> codes (.npy)",
    "decode": "codes (.npy) -> audio",
    "config": "settings that hold when no option is given: the model, the voice",
    "info": "what a model file holds and the memory it needs",
    "convert": "checkpoint folder or GGUF -> GGUF of another type, or MLX folder",
    "download": "fetch a model into the shared Hugging Face cache",
    "bench": "measure a model on this machine",
    "doctor": "what works on this machine, every kernel included",
    "cache": "prefilled voices on disk: list, clear",
    "serve": "an OpenAI-compatible speech server",
    "tui": "the terminal app",
    "completion": "completion of these words in bash, zsh or fish",
}

_EPILOG = """\
examples:
  s2mlx say Hello there.                          speak
  s2mlx say -f chapter.txt -o chapter.flac        a long text into a file
  s2mlx record me && s2mlx say -v me "It's me."   your own voice

`s2mlx help COMMAND` shows its options. Every one can also be set by the environment variable in [brackets] there,
or, for this command alone, by the one with its name: --max-frames of say by S2MLX_SAY_MAX_FRAMES.
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command line; the exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    console = Console()
    debug = "--debug" in argv or os.environ.get("S2MLX_DEBUG", "0").lower() not in ("", "0", "no", "off", "false")
    try:
        check_platform(sys.platform, os.uname().machine if hasattr(os, "uname") else "")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # a name that this terminal cannot show is no failure
        with as_keyboard_interrupt(), named_stdout():
            code = _dispatch(argv, console)
            if sys.stdout is not None:
                sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        console.clear()
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except StdoutError as fault:
        _forget_stdout()
        return _failed(console, fault, debug, fault.exit_code)
    except S2Error as fault:
        return _failed(console, fault, debug, fault.exit_code)
    except (OSError, MemoryError) as fault:
        return _failed(console, _describe(fault), debug, 1)
    except Exception as fault:  # a fault of ours: still one line, and how to see the rest
        if interrupted() and not debug:  # or what a library has made of the interrupt, numpy an ImportError
            console.clear()
            return INTERRUPTED
        text = f"unexpected {type(fault).__name__}: {fault}; run again with --debug to see where"
        return _failed(console, text, debug, 1)


def check_platform(system: str, machine: str) -> None:
    """One clear line where MLX does not run."""
    if system == "win32":
        raise S2Error("s2mlx does not run on Windows; use a Mac with Apple Silicon, or Linux (WSL2 works)")
    if system == "darwin" and machine != "arm64":
        raise S2Error(
            "s2mlx needs a Mac with Apple Silicon and an arm64 Python; this Python runs as "
            f"{machine or 'another machine'} (on an M-series Mac, install the arm64 build of Python)"
        )


def _dispatch(argv: list[str], console: Console) -> int:
    if argv[:1] == ["help"]:
        argv = [*argv[1:], "--help"]
    if argv and not argv[0].startswith("-"):
        name, rest = argv[0], argv[1:]
        if name not in COMMANDS:
            raise UsageError(f"there is no command {name!r}; {known_or_near(name, (*COMMANDS, 'help'))}")
        module, parser = command_parser(name)

        def command() -> int:
            args = parser.parse(rest)
            console.configure(args)
            code: int = module.run(args, console)
            return code

        return _leave_quietly(command)

    parser = Parser(
        prog="s2mlx",
        usage="s2mlx COMMAND [options]",
        epilog=_EPILOG,
        description="Text to speech with Fish Audio S2 Pro on Apple MLX, in your own voice.\n\ncommands:\n"
        + "\n".join(f"  {name:<10} {what}" for name, what in COMMANDS.items()),
    )
    parser.add_argument("--version", action="version", version=f"s2mlx {__version__}")

    def bare() -> NoReturn:
        parser.parse(argv)
        raise UsageError("no command given; see s2mlx --help")

    return _leave_quietly(bare)


def command_parser(name: str) -> tuple[ModuleType, Parser]:
    """The module of a command, and the parser of its options."""
    module = import_module(f".{name}", __package__)
    parser = Parser(prog=f"s2mlx {name}", description=(module.__doc__ or "").split("\n\n")[0])
    module.configure(parser)
    return module, parser


def _leave_quietly(run: Callable[[], int]) -> int:
    """argparse ends --help and --version by SystemExit: make that an exit code too."""
    try:
        return run()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0


def _failed(console: Console, text: object, debug: bool, code: int) -> int:
    if debug and (fault := sys.exception()) is not None:
        console.traceback(fault)
    console.error(text)
    return code


def _describe(fault: OSError | MemoryError) -> str:
    if isinstance(fault, MemoryError):
        return "out of memory; a smaller model or a shorter text needs less"
    return f"{fault.filename}: {reason(fault)}" if fault.filename else reason(fault)


def _forget_stdout() -> None:
    """Nothing more can be written there: keep the interpreter from complaining about it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stdout is no real file, so nothing will complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
