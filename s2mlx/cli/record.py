"""Make a voice with the microphone: read a sentence aloud, and it is saved with its words under NAME."""

from __future__ import annotations

import argparse
import dataclasses
import select
import sys
import time
from typing import TYPE_CHECKING

from ..errors import AudioError, DeviceError, UsageError
from . import model, references
from .autosave import KeptTake
from .interrupts import uninterrupted
from .parser import Parser, words
from .terminal import Console, seconds

if TYPE_CHECKING:
    import numpy as np

    from ..audio import Take
    from ..synthesizer import Synthesizer
    from ..voices import VoiceLibrary

_LONGEST = 30.0  # s; a reference is 5 to 30
_COUNTDOWN = 3
_LOWEST_DB = -60.0  # left end of the meter
_METER = 30  # characters


def configure(parser: Parser) -> None:
    from ..text import languages

    parser.add_argument("name", metavar="NAME", nargs="?", help="what the voice is called")
    parser.option("--text", type=words, metavar="TEXT", help="what you will read; default: a sentence that is shown")
    parser.option(
        "--language",
        choices=languages(),
        metavar="CODE",
        only=(lambda args: args.text is None, "chooses the sentence that is shown, and --text gives one"),
        help=f"of the sentence that is shown: {', '.join(languages())}; default: yours, else en",
    )
    parser.option("--seconds", type=float, metavar="S", help="record S seconds; default: until Enter, at most 30")
    parser.option("--input", metavar="DEV", help="input device, by number or part of its name; '?' lists")
    parser.option("--force", action="store_true", help="replace a voice of that name without asking")
    model.add_options(parser)
    model.add_manners(parser)
    parser.epilog = model.CLONES + "."


def run(args: argparse.Namespace, console: Console) -> int:
    if args.input == "?":
        from .devices import print_devices

        return print_devices(console, "inputs")
    if args.name is None:
        raise UsageError("NAME is missing: say what the voice is called; see s2mlx record --help")
    if args.seconds is not None and not 1 <= args.seconds <= _LONGEST:
        raise UsageError(f"--seconds must be between 1 and {_LONGEST:.0f}, not {args.seconds:g}")
    if args.seconds is None and not console.interactive:
        raise UsageError("without a terminal nobody can press Enter; say how long with --seconds")
    if args.text is not None:
        references.check_transcript(args.text, "--text")

    from ..audio import find_input
    from ..voices import VoiceLibrary
    from .voice import save

    library = VoiceLibrary()
    name, replace = _settle_name(library, args, console)
    find_input(args.input)
    options = ["--force"] * replace + model.given_options(args)
    with model.open_model(args, console) as tts, KeptTake(name, options, console) as kept:
        model.note_clones(tts, console)
        text, clip = _take(args, tts, kept, console)
        console.progress("making the voice ...")
        voice = tts.clone(clip, text, name=name)
        with uninterrupted():
            save(library, name, voice, clip, replace, console)
            kept.forget()
    return 0


def _settle_name(library: VoiceLibrary, args: argparse.Namespace, console: Console) -> tuple[str, bool]:
    """The voice's name, and whether it may replace one. Asked before anything is recorded."""
    from ..errors import VoiceError
    from .voice import free_name

    name = free_name(library, args.name, force=True)
    try:
        return free_name(library, args.name, args.force), args.force
    except VoiceError:
        if console.interactive and console.ask(f"There is a voice {name!r} already. Replace it?"):
            return name, True
        raise


def _take(
    args: argparse.Namespace, tts: Synthesizer, kept: KeptTake, console: Console
) -> tuple[str, tuple[np.ndarray, int]]:
    """Record until a take will do: (words, (samples float32 [n], rate)). `kept` has each usable one at once."""
    from ..audio import check, trim
    from ..text import sentences_to_read

    longest = tts.config.reference_seconds
    text = args.text if args.text is not None else sentences_to_read(args.language, longest)[0]
    if longest < _LONGEST:
        console.line(f"{tts.name} follows about {longest:.0f} seconds of a voice; what is longer it leaves out.")
    console.line(f"Read this aloud, in your usual voice:\n\n    {text}\n")
    while True:
        take = _listen(args, tts.sample_rate, console)
        verdict = check(take)
        if not verdict.usable and not console.interactive:
            raise AudioError("; ".join(verdict.problems))
        if verdict.usable:
            clip = _sixteen_bit(trim(take).samples), take.rate
            kept.keep(*clip, text)
        problems = list(verdict.problems)
        if verdict.usable and (doubt := references.doubtful_words(text, *clip)):
            problems.append(f"the recording: {doubt}")
        for problem in problems:
            console.warn(problem)
        if not problems or not (console.interactive and console.ask("Record again?", default=True)):
            if not verdict.usable:
                raise AudioError("no voice was made: the recording cannot be used")
            return text, clip


def _sixteen_bit(samples: np.ndarray) -> np.ndarray:
    """As the clip will be kept, so that the voice can be made again from it, code for code."""
    import numpy as np

    from ..audio import pcm16

    return np.frombuffer(pcm16(samples), "<i2").astype(np.float32) / 32768


def _listen(args: argparse.Namespace, rate: int, console: Console) -> Take:
    """Count down, then record with the level on the screen until Enter or the time is up."""
    from ..audio import Recorder

    limit = args.seconds or _LONGEST
    hint = "" if args.seconds else "   Enter ends it"
    with Recorder(rate, device=args.input) as recorder:
        recorder.start()
        if not recorder.wait_ready():
            raise recorder.error or DeviceError("the microphone gives no sound; choose another with --input")
        if console.interactive:
            for left in range(_COUNTDOWN, 0, -1):
                console.progress(f"get ready: {left}   {meter(recorder.level.peak)}")
                time.sleep(1)
        began = recorder.seconds
        while recorder.recording and recorder.seconds - began < limit:
            console.progress(
                f"recording, {seconds(recorder.seconds - began)} of {limit:.0f} s   {meter(recorder.level.peak)}{hint}"
            )
            if _enter(0.05, listen=args.seconds is None):
                break
        take = recorder.stop()
    console.clear()
    return dataclasses.replace(take, samples=take.samples[round(began * take.rate) :])


def meter(peak_db: float) -> str:
    """A level in dBFS as a bar; its end is marked when the microphone is overdriven."""
    filled = round(_METER * min(1.0, max(0.0, 1 - peak_db / _LOWEST_DB)))
    return "[" + "#" * filled + "." * (_METER - filled) + ("!]" if peak_db > -0.5 else " ]")


def _enter(wait: float, listen: bool) -> bool:
    """Wait a moment; True when a line was typed meanwhile."""
    if not listen:
        time.sleep(wait)
        return False
    if select.select([sys.stdin], [], [], wait)[0]:
        sys.stdin.readline()
        return True
    return False
