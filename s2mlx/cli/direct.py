"""Add stage directions to a text, such as [whispering], by a local language model: to see and change before speaking.

The model can only copy the next word or open a direction of S2's list, so the words come back as they were.
"""

from __future__ import annotations

import argparse
import sys

from ..errors import UsageError
from ..files import LARGEST_TEXT, decode_text, read_text_file
from . import language, model, paths
from .parser import Parser
from .terminal import Console, stdin_is_piped

_EPILOG = """\
s2mlx direct chapter.txt -o directed.txt && s2mlx say -f directed.txt

The same text and model give the same directions. S2 Pro follows them; the bundled voice leaves them aside.
"""


def configure(parser: Parser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("file", nargs="?", metavar="FILE|-", help="the text; - is stdin, as is a pipe without FILE")
    parser.option("-o", "--output", metavar="FILE|-", help="where the directed text goes; default: stdout")
    language.add_options(parser)
    model.add_manners(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    from ..language import direct_sentences, find_language_model

    output: str = args.output or "-"
    if output != "-":
        paths.check_ending(output, (".txt", ".text", ".md"), "text")
        paths.check_writable(output)
    text = _read(args.file)
    find_language_model(args.lm)
    console.progress("loading the language model ...")
    done, end, added = [], 0, 0
    try:
        for one in direct_sentences(text, args.lm):
            done.append(one.text)
            end, added = one.end, added + one.added
            console.progress(f"directing, {100 * end // len(text)} %, {_count(added)} ...")
    except KeyboardInterrupt:
        console.clear()
        if added and output != "-":
            paths.write_whole(output, ("".join(done) + text[end:]).encode())
            console.note(f"interrupted; {output} holds the whole text, its first {100 * end // len(text)} % directed")
        raise
    console.clear()
    paths.write_whole(output, ("".join(done) + text[end:]).encode())
    if not added:
        console.note("the language model found nothing to direct; another one may (--lm)")
    elif output != "-":
        console.summary(f"{_count(added)} -> {output}")
    return 0


def _read(file: str | None) -> str:
    from ..text import has_words

    if file is None and not stdin_is_piped():
        raise UsageError("there is no text to direct: name a FILE, or give a pipe; see s2mlx direct --help")
    if file not in (None, "-"):
        text = read_text_file(file)
    elif sys.stdin is None:
        raise UsageError("there is no text to direct: there is no stdin")
    else:
        text = decode_text(sys.stdin.buffer.read(LARGEST_TEXT + 1), "stdin")
    if not has_words(text, tags=False):
        raise UsageError(f"there is nothing to direct: {'stdin' if file in (None, '-') else file} has no words")
    return text


def _count(directions: int) -> str:
    return "1 direction" if directions == 1 else f"{directions} directions"
