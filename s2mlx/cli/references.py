"""Voices named on the command line: saved ones, .s2voice files, clips given in place."""

from __future__ import annotations

import argparse
import os
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AudioError, UsageError
from ..voices import listed
from . import listening
from .parser import Parser, words
from .terminal import Console, seconds

if TYPE_CHECKING:
    import numpy as np

    from ..synthesizer import Synthesizer
    from ..voices import Voice

    Clip = tuple[np.ndarray, float]  # samples float32 [n] and their rate

# Words for less than the one, or for more than the other, times the speech that is heard: some are missing, or belong
# elsewhere. Of synthetic and read clips with all their words, in 17 languages, the ratio was 0.88 to 1.36.
_FEWEST, _MOST = 0.75, 1.75


def add_options(parser: Parser) -> None:
    parser.shared(
        "-v",
        "--voice",
        action="append",
        metavar="NAME|PATH",
        yields_to=("ref", "ref_text"),
        help="a saved voice or a .s2voice file; '?' lists; repeat to bind speakers 0, 1, ...",
    )
    parser.shared(
        "--ref",
        action="append",
        metavar="CLIP",
        yields_to=("voice",),
        help="a clip of 5-30 s to speak like; repeat for several speakers",
    )
    parser.shared(
        "--ref-text",
        action="append",
        type=words,
        metavar="TEXT",
        yields_to=("voice",),
        help="the words spoken in CLIP, one for each --ref; default: they are heard",
    )
    listening.add_options(parser, lambda args: bool(args.ref), "a clip whose words are heard: --ref CLIP")


def add_one_voice(parser: Parser, help: str) -> None:
    """`-v` of a command that takes a single voice; its variable is that of `say`. See `one_voice`."""
    parser.shared("-v", "--voice", action="append", metavar="NAME|PATH", help=help)


def one_voice(args: argparse.Namespace) -> str | None:
    if len(args.voice or []) > 1:
        raise UsageError(f"this command takes one voice, not {len(args.voice)}: {', '.join(args.voice)}")
    return args.voice[0] if args.voice else None


def check(args: argparse.Namespace, console: Console) -> list[Clip]:
    """Everything about the references that can be said before a model is loaded. The clips of --ref, read; those
    without --ref-text are heard, and `args.ref_text` then has their words."""
    clips, texts = args.ref or [], args.ref_text or []
    if args.voice and (clips or texts):
        raise UsageError("-v and --ref exclude each other; to mix them, save the clip first: s2mlx voice add")
    if len(texts) > len(clips):
        raise UsageError("--ref-text without a clip; give the recording it belongs to with --ref")
    for clip, text in zip(clips, texts):
        check_transcript(text, f"the --ref-text of {clip}")
    found = [read_clip(clip, text, console) for clip, text in zip_longest(clips, texts)]
    unheard = list(zip(clips, found))[len(texts) :]
    args.ref_text = texts + listening.words_of(unheard, "--ref-text", args, console)
    return found


def note_speakers(text: str, voices: list[str], console: Console) -> None:
    """Say which speakers of the text have no voice though others have, and which voices no speaker uses."""
    from ..text import split_turns

    if not voices:
        return
    speakers = sorted({turn.speaker or 0 for turn in split_turns(text)})
    if without := [str(speaker) for speaker in speakers if speaker >= len(voices)]:
        console.note(f"{_speakers(without)} no voice: each -v or --ref is bound to one, the first to speaker 0")
    if spare := [speaker for speaker in range(len(voices)) if speaker not in speakers]:
        names = " and ".join(repr(voices[speaker]) for speaker in spare)
        said = f"the text has speaker{'s' * (len(speakers) > 1)} {listed(map(str, speakers))} only"
        console.note(f"{names} will not speak: {said}; <|speaker:{spare[0]}|> in the text makes it speak")


def _speakers(numbers: list[str]) -> str:
    return f"speaker {numbers[0]} has" if len(numbers) == 1 else f"speakers {listed(numbers)} have"


def check_transcript(text: str, what: str) -> None:
    from ..text import clean_text, has_words

    if not has_words(clean_text(text)):
        raise UsageError(f"{what} {'has no words' if text.strip() else 'is empty'}; give the words spoken in the clip")
    check_unicode(text, what)


def check_unicode(text: str, what: str) -> None:
    """Bytes of the command line that are not UTF-8 arrive as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what} is not valid UTF-8") from None


def read_clip(path: str, text: str | None, console: Console) -> Clip:
    """(samples float32 [n] mono, their rate) of a clip, whose faults are then known: that costs milliseconds, not as
    loading a model. A doubtful length is said, and a `text`, if known, that can hardly be its words."""
    from ..audio import BEST_SECONDS, INAUDIBLE_DB, speech_db
    from ..voices import read_clip

    samples, rate = clip = read_clip(path)
    if speech_db(samples, round(rate)) < INAUDIBLE_DB:
        raise AudioError(f"{path} is silent, or nearly so; a voice needs speech that can be heard")
    least, most = BEST_SECONDS
    if not least <= len(samples) / rate <= most:
        console.warn(
            f"{path} has {seconds(len(samples) / rate)}; a clip of {least:.0f} to {most:.0f} s makes a closer voice"
        )
    if text is not None and (doubt := doubtful_words(text, samples, round(rate))):
        console.warn(f"{path}: {doubt}")
    return clip


def doubtful_words(text: str, samples: np.ndarray, rate: int) -> str | None:
    """What is to be said if a clip, float32 [n], can hardly speak these words and no others."""
    from ..audio import heard_seconds
    from ..text import estimate_seconds

    expected, heard = estimate_seconds(text), heard_seconds(samples, rate)
    if _FEWEST * heard <= expected <= _MOST * heard:
        return None
    return (
        f"its {seconds(heard)} of speech are too {'long' if expected < heard else 'short'} for its words, which take "
        f"{seconds(expected)}; a voice needs all the words of its clip and no others"
    )


def load_named(args: argparse.Namespace) -> list[Voice]:
    """The voices of -v, in order, before a model is loaded."""
    if not args.voice:
        return []
    from ..voices import VoiceLibrary

    library = VoiceLibrary()
    return [library.resolve(name) for name in args.voice]


def resolve(
    args: argparse.Namespace, named: list[Voice], clips: list[Clip], tts: Synthesizer, console: Console
) -> list[Voice]:
    """All voices of the request as this model takes them: the named ones, or the clips encoded by it. named: what
    `load_named` gave, clips: what `check` gave."""
    from ..voices import VoiceFitter, VoiceLibrary

    fitter, voices = VoiceFitter(tts, VoiceLibrary()), []
    for spec, voice in zip(args.voice or [], named):
        making = f"{spec} was made for another model: encoding its clip ..."
        voices.append(fitter.fit(voice, clip=clip_of(spec), on_making=partial(console.progress, making)))
    for path, text, clip in zip(args.ref or [], args.ref_text or [], clips):
        console.progress(f"encoding {os.path.basename(path)} ...")
        voices.append(tts.clone(clip, text))
    console.clear()
    return voices


def clip_of(spec: str) -> Path | None:
    """Where the recording lies of a voice that -v names by a path; None if it is a name, which the library knows."""
    from ..voices import clip_of_file, is_path

    return clip_of_file(Path(spec).expanduser()) if is_path(spec) else None
