"""Ask a local language model (mlx-lm): its answer is shown as it comes, and spoken sentence by sentence.

On a terminal it is a conversation: the next line is the next question.
"""

from __future__ import annotations

import argparse
import math
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import S2Error, UsageError
from . import knobs, language, model, paths, references
from .interrupts import stopped_a_part
from .parser import Parser, words
from .terminal import Console, stdin_is_piped, stdout_is_terminal, typed

if TYPE_CHECKING:
    from ..language import Answer, Chat
    from ..options import Options
    from ..synthesizer import Synthesizer
    from ..voices import Voice
    from .delivery import Delivery

_EPILOG = """\
s2mlx ask "Tell me a story about a lighthouse."
s2mlx ask "A haiku about the sea." -o haiku.mp3 > haiku.txt

QUESTION words are joined by spaces; without any, a pipe on stdin is the question, and on a terminal one is asked for.
Markdown, code blocks, links and what a model thinks are shown and not read aloud. Ctrl-C stops an answer, Ctrl-D ends
the conversation. Both models are in memory at once; the voice goes first, and the writer writes where it has time.
"""


def configure(parser: Parser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("question", nargs="*", type=words, metavar="QUESTION", help="what to ask")
    language.add_options(parser)
    parser.option(
        "--system", type=words, metavar="TEXT", help="what the language model is told first; default: it speaks"
    )
    parser.option(
        "--max-tokens",
        type=_tokens,
        default=1024,
        metavar="N",
        help="longest answer of the language model; default 1024",
    )
    parser.option(
        "--lm-temperature",
        type=_temperature,
        default=0.7,
        metavar="T",
        help="how freely the language model draws its words, 0 not at all; default 0.7",
    )
    model.add_options(parser)
    references.add_options(parser)
    parser.shared(
        "-o", "--output", metavar="FILE|-", help="write the one answer's speech instead of playing; - is WAV on stdout"
    )
    parser.shared("-a", "--device", metavar="DEV", help="output device, by number or part of its name; '?' lists")
    parser.shared("--play", action="store_true", help="play although -o is given")
    knobs.add_options(parser)
    model.add_manners(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.voice and "?" in args.voice:
        from .voice import print_voices

        return print_voices(console, False)
    if args.device == "?":
        from .devices import print_devices

        return print_devices(console, "outputs", False)
    from ..language import Chat, find_language_model

    question = _question(args, console)
    talks = console.interactive and stdout_is_terminal() and not args.output
    path = find_language_model(args.lm)
    play = args.play or not args.output
    if "device" in args.given and not play:
        raise UsageError("-a chooses where to play, and nothing is played; add --play")
    if args.output:
        paths.check_sound(args.output, False)
    if play:
        from .say import check_device

        check_device(args)
    options = knobs.options(args)
    if options.check:
        from ..listen import check_ear

        check_ear()
    clips = references.check(args, console)
    named = references.load_named(args)
    with model.open_model(args, console) as tts:
        voices = references.resolve(args, named, clips, tts, console)
        console.progress("loading the language model ...")
        chat = Chat(
            tts,
            path,
            args.system,
            temperature=args.lm_temperature,
            max_tokens=args.max_tokens,
            seed=options.seed,
        )
        console.clear()
        one = _Speaker(tts, chat, voices, options, args.output, play, args.device, console)
        if question:
            one.answer(question, goes_on=talks)
        if talks:
            _talk(one)
    return 0


def _question(args: argparse.Namespace, console: Console) -> str | None:
    """None: it is asked for on the terminal."""
    question = " ".join(args.question)
    references.check_unicode(question, "the question")
    if not args.question and stdin_is_piped():
        from ..files import LARGEST_TEXT, decode_text

        question = decode_text(sys.stdin.buffer.read(LARGEST_TEXT + 1), "stdin")
    if question.strip():
        return question
    if args.question or not console.interactive or not stdout_is_terminal():
        raise UsageError("there is no question: give QUESTION, or a pipe; see s2mlx ask --help")
    if args.output:
        raise UsageError("-o takes one answer: give its QUESTION")
    return None


def _talk(one: _Speaker) -> None:
    """Each line is a question, until Ctrl-D."""
    from .live_text import line_history

    with line_history("ask-lines"):
        while True:
            try:
                line = typed("> ")
            except EOFError:
                print()
                return
            if line.strip():
                one.answer(line, goes_on=True)


class _Speaker:
    """Answers one question after the other."""

    def __init__(
        self,
        tts: Synthesizer,
        chat: Chat,
        voices: list[Voice],
        options: Options,
        output: str | None,
        play: bool,
        device: str | None,
        console: Console,
    ):
        self._tts, self._chat, self._voices, self._options = tts, chat, voices, options
        self._output, self._play, self._device, self._console = output, play, device, console
        self._shown_on = sys.stderr if output == "-" else sys.stdout
        self._cut = self._stopped = False

    def answer(self, question: str, goes_on: bool) -> None:
        """goes_on: an interrupt, or an answer that cannot be spoken, is not the end."""
        from .. import SpeechInput
        from ..language import PATIENCE
        from . import delivery

        spoken, cancel = SpeechInput(patience=PATIENCE), threading.Event()
        self._cut = self._stopped = False
        job = delivery.Delivery(self._tts, spoken, self._voices, self._options, self._console)
        if self._output:
            job.write_audio(self._output, False)
        if self._play:
            job.play(self._device)
        heard = self._play or (self._output is not None and paths.is_stream(self._output))
        lead = lambda: math.inf if job.lead is None else job.lead()
        answer = self._chat.ask(
            question,
            spoken,
            lead=lead if heard and not self._options.needs_whole else None,
            rate=self._options.rate,
            cancel=cancel,
        )
        job.listeners.append(lambda chunk: answer.heard(chunk.span[1]))
        shown = threading.Thread(target=lambda: self._show(answer), name="s2mlx-answer", daemon=True)
        live, self._console.live = self._console.live, False  # the line of the answer stays as it is
        shown.start()
        try:
            self._deliver(job, goes_on)
        finally:
            cancel.set()
            shown.join()
            self._console.live = live
        if self._cut and not self._stopped:
            self._console.note("the answer was cut short: --max-tokens allows longer ones")

    def _deliver(self, job: Delivery, goes_on: bool) -> None:
        try:
            job.run()
        except KeyboardInterrupt:
            if not (goes_on and stopped_a_part()):
                raise
            self._stopped = True
        except UsageError as fault:
            if job.tally.frames:
                raise
            said = "nothing of the answer can be read aloud"
            if not goes_on:
                raise S2Error(said) from fault
            self._console.note(said)
        except S2Error as fault:
            if not goes_on:
                raise
            self._console.error(fault)

    def _show(self, answer: Answer) -> None:
        """On a thread of its own. What the model fails with ends the speech, which tells of it."""
        from ..text import visible

        ends_in_line, on_terminal = True, self._shown_on.isatty()
        with suppress(S2Error):
            for part in answer.written:
                self._cut = part.finish_reason == "length"
                if part.text:
                    self._print(visible(part.text, lines=True) if on_terminal else part.text)
                    ends_in_line = part.text.endswith("\n")
        if not ends_in_line:
            self._print("\n")

    def _print(self, words: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads them any more: they are heard all the same
            self._shown_on.write(words)
            self._shown_on.flush()


def _tokens(word: str) -> int:
    if not (word.isascii() and word.isdigit() and 0 < int(word) < 10**6):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 999999, not {word!r}")
    return int(word)


def _temperature(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 5:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 5, not {word!r}")
    return value
