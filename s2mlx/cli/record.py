"""Make a voice with the microphone: read a sentence aloud, and it is saved with its words under NAME."""

from __future__ import annotations

import sys
import threading
import time

from ..errors import AudioError, UsageError
from . import model, references
from .terminal import seconds

_LONGEST = 30.0  # s; a reference is 5 to 30
_COUNTDOWN = 3
_METER = 30      # characters


def configure(parser) -> None:
    from s2mlx_app.reading import LANGUAGES

    parser.add_argument("name", metavar="NAME", help="what the voice is called")
    parser.option("--text", metavar="TEXT", help="what you will read; default: a sentence that is shown")
    parser.option("--language", choices=list(LANGUAGES), default="en", help="of the sentence that is shown; default en")
    parser.option("--seconds", type=float, metavar="S", help="record for S seconds; default: until Enter, at most 30")
    parser.option("--input", metavar="DEV", help="input device, by number or part of its name; `?` lists")
    parser.option("--force", action="store_true", help="replace a voice of that name without asking, keep a doubtful take")
    model.add_options(parser)
    model.add_manners(parser)


def run(args, console) -> int:
    if args.input == "?":
        from .devices import print_list
        return print_list("inputs")
    if args.seconds is not None and not 1 <= args.seconds <= _LONGEST:
        raise UsageError(f"--seconds must be between 1 and {_LONGEST:.0f}, not {args.seconds:g}")
    if args.seconds is None and not console.interactive:
        raise UsageError("without a terminal nobody can press Enter: say how long with --seconds")
    if args.text is not None:
        references.check_transcript(args.text, "--text")

    from ..audio.devices import find_input
    from ..voice import VoiceLibrary
    from .voice import free_name, save
    library = VoiceLibrary()
    name, replace = _settle_name(library, args, console)
    device = find_input(args.input)
    with model.open_model(args, console) as tts:
        text, clip = _take(args, device, console)
        console.progress("making the voice ...")
        voice = tts.clone(clip, text, name=name)
        save(library, name, voice, clip, replace, console)
    return 0
