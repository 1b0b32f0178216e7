"""Encode a clip: audio -> codes, int32 [num_codebooks, frames], as .npy."""

from __future__ import annotations

import argparse

from . import model, paths
from .parser import Parser
from .terminal import Console, seconds


def configure(parser: Parser) -> None:
    parser.add_argument("clip", metavar="CLIP", help="a sound file of any rate and channel count")
    parser.option("-o", "--output", metavar="CODES.npy|-", help="where the codes go; - is stdout")
    model.add_options(parser)
    model.add_manners(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    paths.check_codes(args.output)

    from ..audio import read_sound, resample
    from .outputs import save_codes

    clip = read_sound(args.clip)  # its faults are told before a model is loaded; the rate is the model's
    with model.open_model(args, console) as tts:
        samples = resample(*clip, tts.sample_rate)
        console.progress("encoding ...")
        codes = tts.codec.encode(samples)
        save_codes(args.output, codes)
        console.summary(f"{seconds(len(samples) / tts.sample_rate)} -> {codes.shape[1]} frames -> {args.output}")
    return 0
