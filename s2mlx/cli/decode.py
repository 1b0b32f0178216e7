"""Decode frames: codes (.npy) -> audio."""

from __future__ import annotations

from ..errors import S2Error, UsageError
from . import model, paths
from .terminal import seconds


def configure(parser) -> None:
    parser.add_argument("codes", metavar="CODES.npy", help="integers [num_codebooks, frames]")
    parser.option("-o", "--output", metavar="FILE|-", help=".wav .flac .mp3 .ogg .opus; - is WAV on stdout")
    parser.option("--raw", action="store_true", help="16-bit little-endian mono samples without a header")
    parser.option("--chunk", type=int, metavar="N", help="decode N frames at a time: less memory, the same result")
    model.add_options(parser)
    model.add_manners(parser)


def run(args, console) -> int:
    paths.check_output(args.output, "sound is")
    if not args.raw and not paths.is_stream(args.output):
        from ..audio.files import check_ending
        check_ending(args.output)
    if args.chunk is not None and args.chunk < 1:
        raise UsageError(f"--chunk must be at least 1, not {args.chunk}")
    codes = read_codes(args.codes)

    import numpy as np

    from .outputs import open_audio
    with model.open_model(args, console) as tts:
        if codes.shape[0] != tts.num_codebooks:
            raise S2Error(f"{args.codes} has {codes.shape[0]} rows, and this model has {tts.num_codebooks} codebooks")
        console.progress("decoding ...")
        samples = tts.codec.decode(np.asarray(codes, np.int32), chunk=args.chunk)
        output = open_audio(args.output, tts.sample_rate, args.raw)
        output.write(samples, codes, True)
        output.finish()
        console.summary(f"{codes.shape[1]} frames -> {seconds(len(samples) / tts.sample_rate)} -> {args.output}")
    return 0


def read_codes(path: str):
    """A .npy of integers -> array [num_codebooks, frames]. What the header claims is held against the file's size."""
    import numpy as np

    try:
        codes = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as fault:
        raise S2Error(f"cannot read {path}: {fault.strerror or fault}") from fault
    except (ValueError, EOFError, SyntaxError, OverflowError, MemoryError) as fault:
        raise S2Error(f"{path} is not a .npy file of codes, or is damaged") from fault
    if not isinstance(codes, np.ndarray) or codes.ndim != 2 or not np.issubdtype(codes.dtype, np.integer):
        found = f"{codes.dtype} {list(codes.shape)}" if isinstance(codes, np.ndarray) else "an archive"
        raise S2Error(f"{path} holds {found}; codes are integers [num_codebooks, frames]")
    if not codes.shape[1]:
        raise S2Error(f"{path} holds no frames")
    limits = np.iinfo(np.int32)
    if codes.min() < limits.min or codes.max() > limits.max:
        raise S2Error(f"{path} holds numbers beyond 32 bits; codes are small")
    return codes
