"""Where words are lost on the way: harder sentences through the vocoder, each time one thing more left to the model.

    python -m recipe.diagnose [SENTENCES]     (with a work folder that has all networks; 40 sentences)

What the Dual-AR says on its own is told by `recipe.evaluate harder`.
"""

import sys

import numpy as np
import torch
from tokenizers import Tokenizer

from . import asr, codes, config, export, grid, prompts, speakers, train_ar, vocoder, voices
from .held_out import HARDER
from .make_tokenizer import SEMANTIC_BEGIN
from .own_keys import KEYS
from .said import utterance


class Teacher:
    """The teacher on the grid, its codes in the default voice, and the decoder that makes sound of codes."""

    def __init__(self):
        self.codec = export.load()[1]
        self.books = codes.Books.load()

    def say(self, text, own=grid.OWN):
        """-> features, melody, codes [books, F]. own: how much of its own lengths the phones keep"""
        laid = utterance(text, own)
        return *laid[2:], voices.coded(laid, speakers.DEFAULT, self.books)

    @torch.no_grad()
    def decoder_heard(self, frames):
        return asr.hear(self.codec.decode(torch.from_numpy(frames)[None])[0, 0].numpy(), vocoder.RATE)

    def codes_heard(self, frames):
        return heard(self.books.decode(np.concatenate([frames[:1], frames[2:]])), frames[1])


def heard(features, entries):
    return asr.hear(speakers.sound(features, entries), vocoder.RATE)


def drawn(logits):
    """One code a row, as the file's sampling draws it."""
    value, index = (logits / KEYS["s2mlx.sampling.temperature"]).topk(KEYS["s2mlx.sampling.top_k"], -1)
    share = value.softmax(-1)
    share = share * (share.cumsum(-1) - share < KEYS["s2mlx.sampling.top_p"])
    return index.gather(-1, torch.multinomial(share, 1))[..., 0]


class Chooser:
    """The Dual-AR's choice for every frame, each after the true frames before it."""

    def __init__(self):
        self.tokenizer = Tokenizer.from_file(str(config.work("tokenizer.json")))
        self.builder = prompts.Builder(self.tokenizer, np.random.default_rng(0))
        self.model = train_ar.build().eval()
        self.model.load_state_dict(torch.load(config.work("ar.pt"), weights_only=False)["model"])

    @torch.no_grad()
    def choose(self, text, melody, frames):
        """-> codes with its details, codes with its semantic code and details; the pitch stays"""
        tokens = np.array(self.tokenizer.encode(text, add_special_tokens=False).ids)
        own = np.concatenate([frames[:1], frames[2:]])
        said = prompts.Utterance(tokens, own, np.zeros(own.shape[1], int), melody)
        batch = {k: torch.from_numpy(v)[None] for k, v in self.builder.example([said], spoil=False).items()}
        frame = batch["target"][0] >= SEMANTIC_BEGIN
        hidden = self.model.slow(self.model.embed(batch["ids"], batch["codes"]))[0][frame]
        semantic = drawn(self.model.logits(hidden)[:, SEMANTIC_BEGIN : SEMANTIC_BEGIN + codes.SEMANTIC])
        return [self.details(hidden, first, frames[1]) for first in (torch.from_numpy(frames[0]), semantic)]

    def details(self, hidden, first, entries):
        made = torch.stack([first, torch.from_numpy(entries)], 1)
        for _ in range(codes.DETAIL_BOOKS):
            made = torch.cat([made, drawn(self.model.fast(hidden, made)[:, -1, : codes.DETAIL])[:, None]], 1)
        return made.T.numpy()


def main(count=40):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    teacher, chooser, texts = Teacher(), Chooser(), HARDER[:count]
    results = {}
    for text in texts:
        features, melody, frames = teacher.say(text)
        details, both = chooser.choose(text, melody, frames)
        for name, said in {
            "the teacher's features": heard(features, frames[1]),
            "as codes": teacher.codes_heard(frames),
            "as codes, through the decoder": teacher.decoder_heard(frames),
            "as codes, usual lengths": teacher.codes_heard(teacher.say(text, own=0.0)[2]),
            "details chosen": teacher.codes_heard(details),
            "semantic code and details chosen": teacher.codes_heard(both),
        }.items():
            results.setdefault(name, []).append(said)
    for name, said in results.items():
        print(f"{asr.word_error_rate(texts, said):.3f} {name}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
