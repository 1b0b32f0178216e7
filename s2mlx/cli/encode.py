"""Encode a clip: audio -> codes, int32 [num_codebooks, frames], as .npy."""

from __future__ import annotations

from ..errors import UsageError
from . import model, paths, references
from .terminal import seconds, stdout_is_terminal


def configure(parser) -> None:
    parser.add_argument("clip", metavar="CLIP", help="a sound file of any rate and channel count")
    parser.option("-o", "--output", metavar="CODES.npy|-", help="where the codes go; - is stdout")
    model.add_options(parser)
    model.add_manners(parser)


def run(args, console) -> int:
    references.check_clip(args.clip)
    check_output(args.output, "codes are")

    from ..audio.files import read_audio
    from .outputs import save_codes
    with model.open_model(args, console) as tts:
        samples = read_audio(args.clip, tts.sample_rate)
        console.progress("encoding ...")
        codes = tts.codec.encode(samples)
        save_codes(args.output, codes)
        console.summary(f"{seconds(len(samples) / tts.sample_rate)} -> {codes.shape[1]} frames -> {args.output}")
    return 0


def check_output(path: str | None, what: str) -> None:
    """`-o` of a conversion: needed, writable, and no terminal."""
    if path is None:
        raise UsageError("-o is missing: say where the result goes")
    if path != "-":
        paths.check_writable(path)
    elif stdout_is_terminal():
        raise UsageError(f"{what} not written to a terminal; use -o FILE or a pipe")
