"""What becomes of a long text beside its sound: the files that `--split` makes of it, and what may be asked for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

import regex

from ..errors import UsageError
from ..text import MarkdownReader, clean_text, has_words
from . import paths

PARAGRAPH, CHAPTER = "paragraph", "chapter"
SUBTITLES = (".srt", ".vtt", ".json")
_EMPTY_LINE = regex.compile(r"\n[^\S\n]*\n\s*|\f\s*")
# A line of its own: Markdown's first two ranks, or the word for a chapter and little more.
_HEADING = regex.compile(
    r"""^(?: \#{1,2}[ ]+\S.*
      | (?:chapter|part|book|prologue|epilogue|kapitel|teil|prolog|epilog|chapitre|partie|cap[ií]tulo|parte|capitolo
          |hoofdstuk|deel|rozdział|глава|часть|κεφάλαιο)\b .{0,80}
      | 第.{1,8}[章回部卷].{0,60}
    )$""",
    regex.VERBOSE | regex.MULTILINE | regex.IGNORECASE,
)


def read_chapters(text: str) -> tuple[str, list[int]]:
    """The words of a text in Markdown, and where in them its chapters begin."""
    reader = MarkdownReader()
    words = reader.write(text) + reader.close()
    return words, reader.chapters


def split_text(text: str, how: str | None, chapters: Iterable[int] = ()) -> list[tuple[int, int]]:
    """[begin, end) of each part; together they are the text. One without words goes with the next, the last with the
    one before. how: PARAGRAPH, CHAPTER or None for the whole. chapters: places where some begin without a sign."""
    if how == PARAGRAPH:
        places = [found.end() for found in _EMPTY_LINE.finditer(text)]
    elif how == CHAPTER:
        places = sorted({*(found.start() for found in _HEADING.finditer(text)), *chapters})
    else:
        places = []
    parts: list[tuple[int, int]] = []
    begin = 0
    for end in [*(at for at in places if 0 < at < len(text)), len(text)]:
        if has_words(clean_text(text[begin:end])):
            parts.append((begin, end))
            begin = end
    if begin < len(text) and parts:
        parts[-1] = (parts[-1][0], len(text))
    return parts or [(0, len(text))]


def numbered(path: str, number: int) -> str:
    """out.wav -> out-001.wav"""
    stem, ending = os.path.splitext(path)
    return f"{stem}-{number:03}{ending}"


def check_parts(args: argparse.Namespace) -> None:
    """What --split, --resume and --subtitles ask for can be done. Raises `UsageError`, and `S2Error` for a
    file that cannot be written."""
    for option in ("split", "resume", "subtitles"):
        if option in args.given and (not args.output or paths.is_stream(args.output)):
            raise UsageError(f"--{option} goes with a file: add -o FILE")
    if args.codes and (args.split or args.resume):
        raise UsageError("--codes goes with one run into one file; leave --split and --resume away")
    if args.resume and (args.raw or args.trim or args.normalize):
        raise UsageError("--resume goes on with a file of sound as it was made, not with --raw, --trim or --normalize")
    if args.subtitles:
        if os.path.splitext(args.subtitles)[1].lower() not in SUBTITLES:
            raise UsageError(f"--subtitles {args.subtitles}: its ending must be one of {', '.join(SUBTITLES)}")
        paths.check_writable(args.subtitles)
    if args.split:
        paths.check_writable(numbered(args.output, 1))
