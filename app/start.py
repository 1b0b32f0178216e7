"""Starting and leaving: arguments to settings, and a way out that nothing can hold up."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

from s2mlx.errors import UsageError
from s2mlx.files import config_dir, read_text_file, state_dir

from .app import S2App
from .commands import LARGEST_TEXT
from .engine.local import LocalStudio
from .terminal import own_terminal

INTERRUPTED = 130  # exit code, as the command has it


def start(
    *,
    model: str | None,
    tokenizer: str | None,
    voice: str | None,
    device: str | None,
    text: str | None,
    file: str | None = None,
) -> int:
    """See `s2mlx_app.run`."""
    if not sys.stdout.isatty():
        raise UsageError("the app needs a terminal; use `s2mlx say` in scripts")
    if file != "-" and not _is_keyboard():
        raise UsageError("the app needs a terminal; `s2mlx tui -f -` speaks a pipe there, `s2mlx say` without one")
    if file == "-" and _is_keyboard():
        raise UsageError("-f - reads a pipe, and stdin is the keyboard: leave it out and type into the app")
    arriving = None
    if file is not None:
        from .engine.outside_text import outside_text

        arriving = outside_text(file)
        text = "" if arriving else read_text_file(file, LARGEST_TEXT)
    try:
        (text or "").encode()
    except UnicodeEncodeError:  # bytes of the command line that are no text
        raise UsageError("the text is not valid UTF-8") from None
    studio = LocalStudio()
    overrides: dict[str, Any] = {k: v for k, v in (("model", model), ("tokenizer", tokenizer), ("output", device)) if v}
    guests = {}
    if voice:
        from s2mlx.voices import key

        loaded = studio.library.resolve(voice)
        if key(voice) not in map(key, studio.library.names()):
            guests[loaded.name] = loaded
        overrides["cast"] = (loaded.name,)
    app = S2App(studio, config_dir(), state_dir(), text=text, guests=guests, begun=_collect_again, **overrides)
    app.main.typing.arriving = arriving
    log = state_dir() / "app.log"
    try:
        with own_terminal(log):
            app.run()
        code = app.return_code or 0
    except KeyboardInterrupt:  # a signal: the terminal is closed, or somebody ends the process
        code = INTERRUPTED
    finally:
        gc.enable()
        ended = app.leave()
    if code not in (0, INTERRUPTED):
        print(
            f"error: the app broke off by a fault of its own; text and recordings are kept, details are in {log}",
            file=sys.stderr,
        )
    if not ended:
        # A thread sits in a device or in one long evaluation. Nothing of ours is unwritten: leave the process.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _collect_again() -> None:
    """Garbage, which `run` has left lying. What the picture is made of stays for good, and is not looked through."""
    gc.freeze()
    gc.enable()


def _is_keyboard() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
