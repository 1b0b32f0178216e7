"""Decode frames: codes (.npy) -> audio."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..errors import S2Error, UsageError
from . import model, paths
from .parser import Parser
from .terminal import Console, seconds, stdin_is_piped

if TYPE_CHECKING:
    import numpy as np


def configure(parser: Parser) -> None:
    parser.add_argument("codes", metavar="CODES.npy|-", help="integers [num_codebooks, frames]; - is stdin")
    parser.option("-o", "--output", metavar="FILE|-", help=".wav .flac .mp3 .ogg .opus .aiff .m4a; - is WAV on stdout")
    parser.option("--raw", action="store_true", help="16-bit little-endian mono samples without a header")
    parser.option(
        "--chunk",
        type=int,
        metavar="N",
        help="decode N frames at a time: less memory, the same sound to the rounding of float32",
    )
    model.add_options(parser)
    model.add_manners(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    paths.check_sound(args.output, args.raw)
    if args.chunk is not None and args.chunk < 1:
        raise UsageError(f"--chunk must be at least 1, not {args.chunk}")
    codes, what = read_codes(args.codes)

    import numpy as np

    from .outputs import open_audio

    with model.open_model(args, console) as tts:
        if codes.shape[0] != tts.num_codebooks:
            raise S2Error(f"{what} has {codes.shape[0]} rows, and this model has {tts.num_codebooks} codebooks")
        check_codes(codes, tts.config.codebook_size, what)
        console.progress("decoding ...")
        samples = tts.codec.decode(np.asarray(codes, np.int32), chunk=args.chunk)
        output = open_audio(args.output, tts.sample_rate, args.raw)
        output.write(samples, codes, True)
        output.finish()
        console.summary(f"{codes.shape[1]} frames -> {seconds(len(samples) / tts.sample_rate)} -> {args.output}")
    return 0


def check_codes(codes: np.ndarray, size: int, what: str) -> None:
    """S2Error unless every code [num_codebooks, frames] is one that the model can make, 0 .. size - 1. Its head is as
    wide for the residual codebooks, which are smaller: such codes are clamped to them."""
    import numpy as np

    wrong = np.argwhere((codes < 0) | (codes >= size))
    if len(wrong):
        book, frame = wrong[0]
        raise S2Error(
            f"{what}: {len(wrong)} of {codes.size} codes are outside this model's codebooks, "
            f"0 to {size - 1}; the first is {codes[book, frame]} in codebook {book}, frame {frame}"
        )


def read_codes(path: str) -> tuple[np.ndarray, str]:
    """The codes [num_codebooks, frames] of a .npy file, `-` is stdin, and what errors call it."""
    import numpy as np

    from ..files import read_npy

    if path == "-" and not stdin_is_piped():
        raise UsageError("codes come from a file or a pipe, not from a keyboard")
    what = "stdin" if path == "-" else path
    codes = read_npy(sys.stdin.buffer if path == "-" else path, what)
    if codes.ndim != 2 or not np.issubdtype(codes.dtype, np.integer):
        raise S2Error(f"{what} holds {codes.dtype} {list(codes.shape)}; codes are integers [num_codebooks, frames]")
    if not codes.shape[1]:
        raise S2Error(f"{what} holds no frames")
    limits = np.iinfo(np.int32)
    if codes.size and (codes.min() < limits.min or codes.max() > limits.max):
        raise S2Error(f"{what} holds numbers beyond 32 bits; codes are small")
    return codes, what
