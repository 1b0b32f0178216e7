"""Speak a text: play it while it is generated, or write it to a file or a pipe."""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, cast

from ..errors import DeviceError, GenerationError, UsageError
from ..text import CHAPTER, read_chapters
from . import knobs, model, parts, paths, references
from .live_text import PROMPT
from .parser import Parser, words
from .terminal import Console
from .text_input import read_text, stdin_is_a_keyboard

if TYPE_CHECKING:
    from ..synthesizer import Synthesizer
    from ..team import Team

_EPILOG = """\
TEXT words are joined by spaces; without TEXT and -f a pipe on stdin is read, and spoken while it comes. -f - at a
terminal speaks each line when Enter is pressed. <|speaker:0|>, <|speaker:1|> ... in the
text change the speaker, bound in order to the -v or --ref given. Without -o the speech is played. The model's own
temperature, top-p and top-k: s2mlx info.

--json prints one object on stdout (the last line of stderr with -o -):
  model, model_path, voice [names], seed, text_characters, frames, seconds, finish_reason (stop | length),
  passes [{frames, seconds, finish_reason, text: [begin, end]}], time_to_first_audio, rtf (wall / audio time),
  wall_seconds, load_seconds, prefill_seconds, prompt_tokens, played, underruns, peak_memory (bytes), output, codes;
  with --check of each pass also heard, word_error_rate, takes, right, differences [{kind, wanted, heard}]
"""


def _check_words() -> str:
    """What counts as wrong, with its bounds."""
    from ..listen import GARBLED, LONGER, RUN, SHORTER, TWICE

    return f"""
--check: a recognizer (pip install "s2mlx[ear]") hears each pass before it goes out. It is spoken again when words of
{RUN} letters or more are missing or came besides, when {TWICE} letters or more were said twice, when other words are
{SHORTER} letters shorter or {LONGER} longer than those they stand for, or when {GARBLED:.0%} of the letters are others:
more than a recognizer gets wrong with clear speech. What is heard already while playing stays. Words that stay wrong
are shown.
"""


# What `say` of macOS, espeak and piper call things.
_ELSEWHERE = {
    "-r": "speed is --rate R, 1 is the voice's own and 2 twice as fast",
    "-s": "speed is --rate R, 1 is the voice's own and 2 twice as fast",
    "--speed": "it is --rate R, 1 is the voice's own and 2 twice as fast",
    "--length-scale": "speed is --rate R, 1 is the voice's own and 2 twice as fast",
    "--length_scale": "speed is --rate R, 1 is the voice's own and 2 twice as fast",
    "-w": "a file is -o FILE, its ending says what kind",
    "--output_file": "a file is -o FILE, its ending says what kind",
    "--output-file": "a file is -o FILE, its ending says what kind",
    "--stdout": "sound on stdout is -o -",
    "--output-raw": "bare samples on stdout are -o - --raw",
    "--output_raw": "bare samples on stdout are -o - --raw",
    "--file-format": "the ending of -o FILE says what kind",
    "--data-format": "the ending of -o FILE says what kind; --raw gives 16-bit samples",
    "--channels": "speech has one channel",
    "--bit-rate": "the ending of -o FILE chooses the kind; its bit rate is fixed",
    "--quality": "the ending of -o FILE chooses the kind; its quality is fixed",
    "-i": "the words being spoken are shown by the app: s2mlx tui",
    "--interactive": "the words being spoken are shown by the app: s2mlx tui",
    "--progress": "progress is shown whenever stderr is a terminal; --quiet turns it off",
    "--list-voices": "voices are listed by -v '?' or s2mlx voice list",
    "--voices": "voices are listed by -v '?' or s2mlx voice list",
    "--speaker": "a voice is -v NAME; -v '?' lists them",
    "--input-file": "a text is -f FILE",
    "--input_file": "a text is -f FILE",
    "--audio-device": "a device is -a DEV; -a '?' lists them",
    "--pitch": "there is no knob for the pitch; choose another voice with -v",
    "-p": "there is no knob for the pitch; choose another voice with -v",
    "--volume": "loudness is the player's; --normalize scales the peak of a file",
    "--language": "the model finds the language by itself",
    "--lang": "the model finds the language by itself",
    "--ssml": "there is no SSML; stage directions stand in the text in brackets: [whisper]",
}


def configure(parser: Parser) -> None:
    parser.epilog = _EPILOG + _check_words()
    parser.add_argument("text", nargs="*", type=words, metavar="TEXT", help="the words to speak")
    model.add_options(parser, prefix_cache=True)
    references.add_options(parser)
    option = parser.shared
    option("-f", "--file", metavar="FILE|-", help="read the text from a file, - is stdin")
    parser.option(
        "--patience",
        type=float,
        metavar="S",
        help="seconds without text from a pipe after which a clause is spoken; default 1",
    )
    parser.option(
        "--markdown",
        action="store_true",
        help="the text is Markdown, as language models write it: no code blocks, addresses, signs or thoughts are read",
    )
    option(
        "-o",
        "--output",
        metavar="FILE|-",
        help="write .wav .flac .mp3 .ogg .opus .aiff .m4a instead of playing; - is WAV on stdout",
    )
    option("--raw", action="store_true", help="with -o: 16-bit little-endian mono samples without a header")
    option("-a", "--device", metavar="DEV", help="output device, by number or part of its name; '?' lists")
    option("--play", action="store_true", yields_to=("no_play",), help="play although -o is given")
    option("--no-play", action="store_true", yields_to=("play",), help="do not play, for --codes or --json alone")
    knobs.add_options(parser, trim=" (the speech is then made whole before it sounds)", normalize=" (likewise)")
    parser.option(
        "--strict",
        action="store_true",
        only=(lambda args: args.check, "is of --check"),
        help="with --check: words that stay wrong are an error",
    )
    parser.option("--subtitles", metavar="FILE", help="with -o: write what is said when, as .srt, .vtt or .json")
    parser.option(
        "--split", choices=("paragraph", "chapter"), help="with -o: one file for each, out-001.wav, out-002.wav, ..."
    )
    parser.option("--resume", action="store_true", help="with -o: go on where an interrupted run of this text stopped")
    option("--codes", metavar="FILE.npy", help="also save the frames, int32 [num_codebooks, frames]")
    model.add_manners(parser, json="print figures as one JSON object")
    parser.elsewhere |= _ELSEWHERE


def run(args: argparse.Namespace, console: Console) -> int:
    from ..team import in_team

    if not in_team():
        return _say(args, console)
    from . import team

    with team.joined(args) as own:
        return team.serve(args, console, own) if own.rank else _say(args, console, own)


def _say(args: argparse.Namespace, console: Console, own: Team | None = None) -> int:
    """own: of several machines, which this one leads."""
    if args.voice and "?" in args.voice:
        from .voice import print_voices

        return print_voices(console, args.json)
    if args.device == "?":
        from .devices import print_devices

        return print_devices(console, "outputs", args.json)

    if args.text and "file" in args.given:
        raise UsageError("TEXT and -f exclude each other")
    by_chapter = args.markdown and args.split == CHAPTER  # whose signs are not read aloud
    text = read_text(
        args.text, args.file, args.patience, args.markdown and not by_chapter, bool(args.split or args.resume)
    )
    text, chapters = read_chapters(text) if by_chapter and isinstance(text, str) else (text, [])
    options = knobs.options(args)
    play = _check_outputs(args)
    clips = references.check(args, console)
    named = references.load_named(args)
    if isinstance(text, str):
        references.note_speakers(text, args.voice or args.ref, console)
    elif stdin_is_a_keyboard(args.file):
        console.live, console.prompt = False, PROMPT  # no progress over what is being typed
    if play:
        check_device(args)
    if options.check:
        from ..listen import check_ear

        check_ear(args.ear)

    from ..text import notes
    from .delivery import Delivery
    from .series import Series
    from .subtitles import Subtitles

    began = time.perf_counter()
    with model.open_model(args, console) as tts:
        tts.ear = args.ear
        load_seconds = time.perf_counter() - began
        if isinstance(text, str):
            for line in notes(text, tts.config):
                console.note(line)
        voices = references.resolve(args, named, clips, tts, console)
        progress = None
        if own is not None and own.rounds is not None:
            from .team import TeamProgress, led

            all_of_them = led(tts, own)
            tts, progress = cast("Synthesizer", all_of_them), TeamProgress(all_of_them, console)

        def prepare(job: Delivery) -> None:
            if args.codes:
                job.write_codes(args.codes)
            if play:
                job.play(args.device)
            if progress:
                job.listeners.append(progress.hear)

        passes, wrong = 0, 0

        def done(job: Delivery) -> None:
            nonlocal passes, wrong
            passes, wrong = passes + len(job.tally.passes), wrong + len(job.tally.wrong)
            if progress:
                progress.tell()
            if args.json:
                job.print_json(
                    voice=args.voice or [os.path.basename(clip) for clip in args.ref or []],
                    load_seconds=load_seconds,
                    on_stderr=args.output == "-",
                )

        if isinstance(text, str) and args.output and not paths.is_stream(args.output):
            Series(args, tts, text, voices, options, console, chapters).run(prepare, done)
        else:
            job = Delivery(tts, text, voices, options, console)
            prepare(job)
            if args.output:
                job.write_audio(args.output, args.raw)
            subtitles = Subtitles(args.subtitles, [], 0.0) if args.subtitles else None
            if subtitles:
                job.listeners.append(subtitles.hear)
            try:
                job.run()
            finally:
                if subtitles and subtitles.cues:
                    subtitles.write()
            done(job)
        if args.strict and wrong:
            raise GenerationError(
                f"{wrong} of {passes} passes were not heard as they are written; try another --seed, or more --takes"
            )
    return 0


def check_device(args: argparse.Namespace) -> None:
    """DeviceError, with the way out of it, where nothing can be played."""
    from ..audio import find_output

    try:
        find_output(args.device)
    except DeviceError as fault:
        if args.output:
            raise
        raise DeviceError(f"{fault}; or write a file: -o speech.wav") from fault


def _check_outputs(args: argparse.Namespace) -> bool:
    """Is the speech to be played? Contradictions and targets that cannot be written end here."""
    if args.play and args.no_play:
        raise UsageError("--play and --no-play exclude each other")
    play = args.play or not (args.output or args.no_play)
    if not (play or args.output or args.codes or args.json):
        raise UsageError("with --no-play the speech would be lost; add -o FILE, --codes FILE or --json")
    if "raw" in args.given and not args.output:
        raise UsageError("--raw is a format of -o; add -o FILE or -o -")
    if "device" in args.given and not play:
        raise UsageError("-a chooses where to play, and nothing is played; add --play")
    if args.output:
        paths.check_sound(args.output, args.raw)
    parts.check_parts(args)
    if args.codes:
        if args.codes == "-":
            raise UsageError("--codes needs a file; stdout belongs to the sound")
        paths.check_codes(args.codes)
        if args.output and os.path.realpath(args.codes) == os.path.realpath(args.output):
            raise UsageError(f"-o and --codes both name {args.codes}")
    return play
