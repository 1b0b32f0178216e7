"""The words of clips that come without them: heard, shown, and on a terminal confirmed or corrected."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..errors import AudioError, EarError, UsageError
from .parser import Parser
from .terminal import Console

if TYPE_CHECKING:
    import numpy as np

    from ..listen import Ear, Heard

    Clip = tuple[np.ndarray, float]  # samples float32 [n] and their rate

_GRAVE = 3  # words missing or added that make one ask


def add_options(parser: Parser, when: Callable[[argparse.Namespace], bool], needs: str) -> None:
    """`--ear` and `--yes` of a command that can hear a clip's words. when: whether there is something to hear; needs:
    what there must be for it, after "needs". A check of speech listens too."""
    only = (when, f"needs {needs}")
    parser.shared(
        "--ear",
        metavar="NAME",
        only=(lambda args: when(args) or getattr(args, "check", False), only[1]),
        help="the recognizer that listens, or off; default: one that is installed",
    )
    parser.option("--yes", action="store_true", only=only, help="take the words that are heard without asking")


@contextlib.contextmanager
def ear(args: argparse.Namespace, console: Console, language: str | None = None) -> Iterator[Ear]:
    """The recognizer of --ear, loaded, and let go afterwards. Raises `EarError`."""
    from ..listen import find_ear

    console.progress("listening ...")
    found = find_ear(args.ear, language)
    try:
        yield found
    finally:
        found.close()
        console.clear()


def words_of(clips: list[tuple[str, Clip]], option: str, args: argparse.Namespace, console: Console) -> list[str]:
    """The words of each clip, given with what it is called. Raises `UsageError` where they cannot be heard, or are
    refused; option: what gives them instead."""
    from ..listen import hear_clip

    if not clips:
        return []
    try:
        with ear(args, console) as listener:
            heard = [(path, hear_clip(listener, *clip, os.path.basename(path))) for path, clip in clips]
    except EarError as fault:
        raise UsageError(
            f"give the words spoken in {clips[0][0]} with {option}; they were not heard: {fault}"
        ) from fault
    return _confirmed(heard, option, args, console)


def _confirmed(heard: list[tuple[str, Heard]], option: str, args: argparse.Namespace, console: Console) -> list[str]:
    """Words as they were heard, or as a person corrects them."""
    from ..listen import unsure

    found = []
    for path, each in heard:
        if doubt := unsure(each):
            console.warn(f"{path}: {doubt}")
        if args.yes or not console.interactive:
            console.note(f'heard in {os.path.basename(path)}: "{each.text}"')
            found.append(each.text)
            continue
        console.line(f"Heard in {os.path.basename(path)}:\n\n    {each.text}\n")
        words = console.correct("Are these all the words that it says?", each.text)
        if words is None:
            raise UsageError(f"give the words spoken in {path} with {option}")
        found.append(words)
    return found


def pick(path: str, args: argparse.Namespace, console: Console) -> tuple[Clip, str]:
    """The best part of a long recording and its words: shown, and confirmed on a terminal. Raises `UsageError` where
    nobody can listen, `AudioError` where no part will do."""
    from ..audio import read_sound
    from ..listen import pick
    from .terminal import seconds

    samples, rate = read_sound(path)
    try:
        with ear(args, console) as listener:
            console.progress(f"looking for the best part of {seconds(len(samples) / rate)} ...")
            picked = pick(listener, samples, round(rate))
    except EarError as fault:
        raise UsageError(f"--pick listens to the recording, and cannot: {fault}") from fault
    except AudioError as fault:
        raise AudioError(f"{path}: {fault}; cut a clip of 5 to 30 s yourself") from fault
    long = seconds(picked.end - picked.begin)
    console.note(f"picked {long} of {os.path.basename(path)}, from {_time(picked.begin)} to {_time(picked.end)}")
    for problem in picked.problems:
        console.warn(f"{path}: the best part is not perfect: {problem}")
    [text] = _confirmed([(path, picked.heard)], "--clip, cut by yourself, and --text", args, console)
    return (picked.samples, round(rate)), text


def _time(at: float) -> str:
    """Where a player finds it: 2:05.3."""
    return f"{int(at) // 60}:{at % 60:04.1f}"


def check_words(path: str, clip: Clip, text: str, args: argparse.Namespace, console: Console) -> None:
    """Name what a clip does not say of its words, or says besides, if a recognizer of their language is there. Much of
    it is asked about on a terminal; UsageError where the answer is no."""
    from ..listen import compare, doubts
    from ..text import language

    try:
        with ear(args, console, language(text)) as listener:
            heard = listener.hear(clip[0], round(clip[1]), language(text))
            doubt = doubts(text, heard)
            found = compare(text, heard.text, heard.language)
    except EarError:
        if "ear" in args.given:
            raise
        return
    if doubt is None:
        return
    console.warn(f"{path}: {doubt}; a voice needs all the words of its clip and no others")
    grave = max(found.missing, found.added) >= _GRAVE
    if grave and console.interactive and not args.yes and not console.ask("Make the voice all the same?"):
        raise UsageError(f"no voice was made: give the words that {path} says with --text, or leave it to be heard")
