"""Stage `decoder`: the half of the codec that makes sound: codes -> waveform. Nothing else has to be trained before it.

The target is the vocoder's rendering of the codes themselves, for a random speaker, made on the fly. Because the
excitation is locked to the frame, the waveform is a function of the codes and plain waveform losses work.
"""

import math
import sys
import time

import numpy as np
import torch
from torch import nn

from . import codes, config, speakers, vocoder
from .losses import SpectralDistance
from .muon import advance, optimizers, restore, set_rate, states
from .nets.codec import Codec, CodecSizes, ResidualUnit
from .prompts import SLIP
from .team import together

STEPS = config.size(39600, 60)
BATCH, FRAMES, SKIP = 6, 13, 2  # pieces in each process; a piece's first SKIP frames lack their past and are not scored
RATE = 2e-3
WARM = 100
SEED = 3
EARLIER = config.WORK / "earlier/decoder.pt"  # of a voice with the same states (codes.regrouped), if there is one


def spread_codebook(centres, dim):
    """centres [N, D] -> unit vectors [N, dim] whose distances follow the centres': main components plus a constant."""
    x = centres - centres.mean(0)
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    y = (u * np.sqrt(s))[:, : dim - 1]
    y = y / y.std(0).mean() / 1.5
    y = np.concatenate([y, np.ones((len(y), 1))], 1)
    y = np.concatenate([y, np.zeros((len(y), dim - y.shape[1]))], 1)
    return torch.from_numpy((y / np.linalg.norm(y, axis=1, keepdims=True)).astype(np.float32))


def speaker_entries(dim):
    """Unit vectors [COUNT, dim]: pitch and size along smooth curves, the start phase apart."""
    pitch, phase, size = speakers.parts(np.arange(speakers.COUNT))
    p = (
        np.log(speakers.PITCHES[pitch] / speakers.PITCHES[0])
        / np.log(speakers.PITCHES[-1] / speakers.PITCHES[0])
        * np.pi
    )
    q = np.array(speakers.FORMANTS)[size]
    q = (q - q.min()) / (q.max() - q.min()) * np.pi
    sign, half = 1 - 2.0 * phase, 1 - 2.0 * (2 * speakers.PITCHES[pitch] % 2)
    y = np.zeros((speakers.COUNT, dim))
    curves = [np.cos(p), np.sin(p), np.cos(q), np.sin(q), np.cos(2 * p), np.sin(2 * p), sign, half, sign * half]
    curves += [sign * np.cos(p), sign * np.sin(p), np.cos(4 * p), np.sin(4 * p)]
    for j, curve in enumerate(curves[:dim]):
        y[:, j] = curve
    return torch.from_numpy((y / np.linalg.norm(y, axis=1, keepdims=True)).astype(np.float32))


def build(books):
    sizes = CodecSizes(semantic=len(books.semantic), books=1 + len(books.details))
    codec = Codec(sizes)
    with torch.no_grad():
        all_books = codec.quantizer.books()
        for book, centres in zip([all_books[0], *all_books[2:]], [books.semantic, *books.details]):
            book.codebook.weight.copy_(spread_codebook(centres, sizes.code_dim))
        voices = speaker_entries(sizes.code_dim)
        all_books[1].codebook.weight.copy_(voices[torch.arange(sizes.residual) % speakers.COUNT])
    return codec


def carry(codec, state):
    """Begin where the decoder of the earlier voice was: only what names the speaker is new."""
    weights = {n: w for n, w in state["codec"].items() if not n.startswith("quantizer.quantizer.quantizers.0.")}
    codec.load_state_dict(weights, strict=False)


class Segments:
    """Random pieces of the corpus: codes [B, books, FRAMES] and waveforms [B, FRAMES * 1024].

    draw: chooses a piece's speaker.
    slips: half of the pieces hold codes as the Dual-AR may choose them, which no sentence of the teacher has."""

    def __init__(self, books, items, seed, slips=False, draw=speakers.draw):
        self.books, self.items, self.slips, self.draw = books, items, slips, draw
        self.rng = np.random.default_rng(seed)

    def slipped(self, item, c, spoken):
        """A piece whose frames have other details here and there, seldom another sound or another pitch."""
        rng, frames = self.rng, c.shape[1]
        c = c.copy()
        for rows, share in ((slice(0, 1), 0.04), (slice(1, None), 0.25)):
            other = np.flatnonzero(rng.random(frames) < share)
            c[rows, other] = item[rows, rng.integers(0, item.shape[1], len(other))]
        off = rng.integers(-SLIP, SLIP + 1, frames) * (rng.random(frames) < 0.06)
        return c, speakers.shifted(spoken, off)

    def batch(self, size, frames=FRAMES, beginnings=False):
        """beginnings: pieces that start where an utterance does, so that nothing came before."""
        audio, rows = [], []
        while len(rows) < size:
            item, melody = self.items[self.rng.integers(len(self.items))]
            if item.shape[1] <= frames:
                continue
            start = 0 if beginnings else 1 + self.rng.integers(item.shape[1] - frames)
            before = 0 if beginnings else 1  # one frame more, for the vocoder's past
            c = item[:, start - before : start + frames].astype(np.int64)
            spoken = speakers.spoken(melody, self.draw(self.rng))[start - before : start + frames]
            if self.slips and self.rng.random() < 0.5:
                c, spoken = self.slipped(item, c, spoken)
            wave = vocoder.synthesize(self.books.decode(c), *speakers.excitation(spoken))
            c = np.concatenate([c[:1], spoken[None], c[1:]])
            rows.append(c[:, before:])
            audio.append(np.clip(wave[before * vocoder.FRAME :] * speakers.GAIN, -0.99, 0.99))
        return torch.from_numpy(np.stack(rows)), torch.from_numpy(np.stack(audio))


@torch.no_grad()
def even_out(part, work):
    """Data-driven start: while work() runs, every convolution of a part gets unit variance, residual branches 0.3."""
    branch = {r.block[3].conv for r in part.modules() if isinstance(r, ResidualUnit)}

    def scale(module, _, out):
        out = out - module.bias.view(1, -1, 1)
        module.bias.zero_()
        factor = (0.3 if module in branch else 1.0) / (out.std() + 1e-8)
        module.weight.mul_(factor)
        return out * factor

    hooks = [m.register_forward_hook(scale) for m in part.modules() if isinstance(m, (nn.Conv1d, nn.ConvTranspose1d))]
    work()
    for hook in hooks:
        hook.remove()


def trained_parts(codec, listens):
    """listens: an encoder has been trained with the codebooks, which therefore stay as they are."""
    q = codec.quantizer
    parts = [codec.decoder, q.post_module, q.upsample]
    if not listens:
        parts += [b.out_proj for b in q.books()] + [b.codebook for b in q.books()]
    return [p for part in parts for p in part.parameters()]


def schedule(step, steps, rate, warm, first, end=0.03):
    """The rate of a step. It rises over `warm` steps from `first`, where this run begins: a kept checkpoint has no
    optimizer state."""
    rising = min(1, (step - first + 1) / warm)
    return rate * rising * (end + (1 - end) * 0.5 * (1 + math.cos(math.pi * min(1, step / steps))))


def save(path, **state):
    torch.save(state, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").rename(path)


def run(steps=STEPS):
    together(train, config.CORES, steps)


def train(team, steps):
    torch.manual_seed(SEED)
    books = codes.Books.load()
    items = [(c, melody) for *_, c, melody in codes.load()]
    seen, draw = items[: -config.VALIDATION], speakers.draw_often_shipped
    examples = Segments(books, seen, SEED, slips=True, draw=draw).batch(48)
    check = Segments(books, items[-config.VALIDATION :], SEED).batch(24)
    codec = build(books)
    distance = SpectralDistance(examples[1])
    path, done = config.work("decoder.pt"), 0
    listens = config.work("encoder.pt").exists()
    codec.requires_grad_(False)
    parameters = [p.requires_grad_() for p in trained_parts(codec, listens)]
    learners = optimizers(parameters, [codec.decoder.model[-1].conv.weight], RATE, (0.85, 0.98), 1e-3, team)
    if path.exists():
        state = torch.load(path, weights_only=False)
        codec.load_state_dict(state["codec"], strict=False)
        if state.get("listens") == listens:  # else other parts were trained, and the optimizers are of other sizes
            restore(learners, state)
        done = state["step"]
    elif EARLIER.exists():
        carry(codec, torch.load(EARLIER, weights_only=False))
    else:
        even_out(codec.decoder, lambda: codec.decode(examples[0][:8]))
        with torch.no_grad():
            codec.decoder.model[-1].conv.weight.mul_(0.05)
    codec.decoder.compile(dynamic=False)
    pieces = Segments(books, seen, [SEED, done, team.rank], slips=True, draw=draw)
    average, begun, first = None, time.time(), done
    for step in range(done, steps):
        beginnings = step % 6 == 0
        rows, audio = pieces.batch(BATCH, beginnings=beginnings)
        skip = 0 if beginnings else SKIP * vocoder.FRAME
        set_rate(learners, schedule(step, steps, RATE, WARM, first))
        y, x = codec.decode(rows)[:, 0, skip:], audio[:, skip:]
        terms = distance(y, x)
        loss = 2 * terms["log"] + 3 * terms["mel"] + 2 * terms["complex"] + 4 * terms["wave"]
        advance(learners, loss, parameters, 5.0, team)
        with torch.no_grad():
            for book in [] if listens else codec.quantizer.books():
                book.codebook.weight.copy_(nn.functional.normalize(book.codebook.weight, dim=-1))
        if team.rank > 0:
            continue
        now = np.array([t.item() for t in terms.values()])
        average = now if average is None else 0.97 * average + 0.03 * now
        if (step + 1) % 50 == 0:
            print(
                step + 1,
                " ".join(f"{n} {v:.3f}" for n, v in zip(terms, average)),
                f"{(time.time() - begun) / (step + 1 - first):.3f} s/step",
                flush=True,
            )
        if (step + 1) % 250 == 0 or step + 1 == steps:
            with torch.no_grad():
                terms = distance(
                    codec.decode(check[0])[:, 0, SKIP * vocoder.FRAME :], check[1][:, SKIP * vocoder.FRAME :]
                )
            config.note("decoder", steps=step + 1, **{n: round(v.item(), 4) for n, v in terms.items()})
            speaking = {n: p for n, p in codec.state_dict().items() if not n.startswith("encoder.")}
            save(
                path,
                codec=speaking,
                sizes=codec.sizes.dict(),
                optimizer=states(learners),
                listens=listens,
                step=step + 1,
            )


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
