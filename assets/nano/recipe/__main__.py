"""Makes S2-nano from nothing: python -m recipe [STAGE ...]  (in assets/nano; NANO_WORK names the work folder).

Every stage keeps its result in the work folder and is skipped or resumed when that is there; figures.json collects what
each stage measured. Training takes hours; each stage prints its seconds a step.
"""

import shutil
import sys

from . import (
    align,
    codes,
    config,
    corpus,
    export,
    lexicon,
    make_tokenizer,
    references,
    train_ar,
    train_clone,
    train_decoder,
    train_encoder,
    voices,
)

VOICE_FILES = ("*.s2voice", "*.flac")


def finished(name, steps, counter="step"):
    import torch

    path = config.work(name)
    return path.exists() and torch.load(path, weights_only=False).get(counter, 0) >= steps


def ship():
    """The results into assets/nano, or a rehearsal's beside its work."""
    config.SHIPPED.mkdir(exist_ok=True)
    for name in ("s2-nano.gguf", "tokenizer.json"):
        shutil.copy(config.work(name), config.SHIPPED)
    for pattern in VOICE_FILES:
        for path in config.work("voices").glob(pattern):
            shutil.copy(path, config.SHIPPED)


def exists(name):
    return lambda: config.work(name).exists()


STAGES = {  # name: (is it done?, what to do)
    "corpus": (lambda: False, corpus.run),
    "align": (exists("align.npz"), align.run),
    "books": (exists("books.npz"), codes.run_books),
    "codes": (exists("codes.npz"), codes.run),
    "lexicon": (exists("lexicon.json"), lexicon.run),
    "tokenizer": (exists("tokenizer.json"), make_tokenizer.run),
    "decoder": (lambda: finished("decoder.pt", train_decoder.STEPS), train_decoder.run),
    "ar": (lambda: finished("ar.pt", train_ar.STEPS), train_ar.run),
    "encoder": (lambda: finished("encoder.pt", train_encoder.STEPS), train_encoder.run),
    "references": (exists("references.npz"), references.run),
    "cloning": (lambda: finished("ar.pt", train_clone.STEPS, "cloning"), train_clone.run),
    "export": (lambda: False, export.run),
    "voices": (lambda: False, voices.run),
    "ship": (lambda: False, ship),
}


def main(wanted):
    unknown = set(wanted) - set(STAGES)
    if unknown:
        sys.exit(f"no stage {', '.join(sorted(unknown))}; there are {', '.join(STAGES)}")
    for name, (done, work) in STAGES.items():
        if wanted and name not in wanted:
            continue
        if not wanted and done():
            print(f"{name}: there already", flush=True)
            continue
        print(f"{name}: begins", flush=True)
        work()


if __name__ == "__main__":
    main(sys.argv[1:])
