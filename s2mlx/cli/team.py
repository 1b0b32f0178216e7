"""`say` on several machines, started by `mlx.launch`: the first has the text, the others give their models."""

from __future__ import annotations

import argparse
import atexit
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ..errors import S2Error, UsageError
from ..results import AudioChunk
from ..team import Team, TeamSynthesizer, follow
from . import model, paths
from .interrupts import INTERRUPTED
from .terminal import Console

if TYPE_CHECKING:
    from ..synthesizer import Synthesizer

_EVERY = 10.0  # seconds between two lines of progress: a launcher's output is no terminal


@contextmanager
def joined(args: argparse.Namespace) -> Iterator[Team]:
    """The team of this process; left at the end, by all when this one leads."""
    team, code = Team(), 1
    try:
        if team.size > 1 and team.rank == 0 and (not args.output or paths.is_stream(args.output) or args.play):
            raise UsageError("several machines write a file: give -o FILE, and leave --play out")
        yield team
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
        raise
    except S2Error as fault:
        code = fault.exit_code
        raise
    finally:
        team.close()
        if team.rounds is not None and team.rounds.stuck:  # in MLX, which the end of the interpreter would wait for
            atexit.register(_leave, code)


def serve(args: argparse.Namespace, console: Console, team: Team) -> int:
    """What all but the first do."""
    assert team.rounds is not None
    try:
        with model.open_model(args, console) as tts:
            follow(tts, team.rounds, team.rank)
    except S2Error as fault:
        team.rounds.say(kind="fault", why=str(fault))
        time.sleep(1.0)  # for the others to hear it
        raise
    return 0


class TeamProgress:
    """A line now and then for the log that a launcher's output is: how much there is, and who spoke it."""

    def __init__(self, tts: TeamSynthesizer, console: Console):
        self._tts, self._console, self._last, self._passes = tts, console, time.monotonic(), 0

    def hear(self, chunk: AudioChunk) -> None:
        self._passes += chunk.finish_reason is not None
        if time.monotonic() - self._last >= _EVERY:
            self._last = time.monotonic()
            self._console.note(f"{self._passes} of {chunk.parts} passes; {self._tts.standing}")

    def tell(self) -> None:
        """At the end."""
        if self._tts.standing:
            self._console.note(self._tts.standing)


def led(tts: Synthesizer, team: Team) -> TeamSynthesizer:
    """The synthesizer of all, once all are ready."""
    assert team.rounds is not None
    return TeamSynthesizer(tts, team.rounds, team.size)


def _leave(code: int) -> None:
    """The end of the process that the interpreter would not come to, with the exit code that it would have had."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # nobody reads it any more
            stream.flush()
    os._exit(code)
