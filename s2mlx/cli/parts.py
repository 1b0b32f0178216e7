"""What becomes of a long text beside its sound: the names of its files (`--split`), and what may be asked for."""

from __future__ import annotations

import argparse
import os

from ..errors import UsageError
from . import paths

SUBTITLES = (".srt", ".vtt", ".json")


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
