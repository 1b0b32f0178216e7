"""Stage `encoder`: the half of the codec that listens: audio -> codes, with the decoder's codebooks as they are.

Each book's cosines are trained as a classifier. Half of the audio is what the model itself produces (locked to the
frame, any speaker); half keeps the teacher's own timing, moves in pitch, sits anywhere between the frames' borders and
in any room: so clips from outside land on the nearest sounds and the nearest voice.
"""

import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from . import align, codes, config, corpus, durations, grid, speakers, vocoder
from .melody import melody
from .nets.codec import Codec, CodecSizes
from .teacher import STEP_MS
from .train_decoder import even_out, save, schedule

STEPS = config.size(4600, 40)
BATCH, FRAMES, SKIP = 6, 16, 2
RATE = 1.5e-3
WARM = 50
SHARDS = 12
SEED = 9
EARLIER = config.WORK / "earlier/encoder.pt"  # of a voice with the same states (codes.regrouped), if there is one


class Listening:
    """Random audio with its codes: audio [B, 1, FRAMES * 1024], codes [B, books, FRAMES], whether it is locked [B]."""

    def __init__(self, books, lengths, shards, seed):
        self.books, self.lengths = books, lengths
        self.rng = np.random.default_rng(seed)
        times = align.load()
        self.items = []
        for _, phones, analysis, pitch in corpus.load(shards):
            analysis = analysis.astype(np.float32)
            self.items.append((align.times(times, phones, analysis), analysis, melody(pitch)))
        self.by_phone = {}
        for key, (first, end) in books.groups.items():
            self.by_phone.setdefault(key.split()[0], []).extend(range(first, end))
        self.silences = sum((self.by_phone[k] for k in ("lead", "pause", "tail")), [])

    def locked(self, item):
        phones, analysis, moved = item
        names, n, features, moved = grid.lay(phones, analysis, moved, config.TEMPO, self.lengths)
        found = self.books.encode(codes.states(names, n), codes.flatten(features))
        spoken = speakers.spoken(moved, speakers.draw(self.rng))
        start = int(self.rng.integers(max(1, len(features) - FRAMES)))
        cut = slice(start, start + FRAMES)
        source = features if self.rng.random() < 0.5 else self.books.decode(found)
        return vocoder.synthesize(source[cut], *speakers.excitation(spoken[cut])), found[:, cut], spoken[cut]

    def natural(self, item):
        phones, analysis, moved = item
        tempo = self.rng.uniform(0.8, 1.4)
        knots = int(len(analysis) * STEP_MS / 1000 / grid.FRAME_SECONDS * vocoder.KNOTS * tempo) - vocoder.KNOTS
        at = (np.arange(knots // vocoder.KNOTS * vocoder.KNOTS) + 0.5) / vocoder.KNOTS * grid.FRAME_SECONDS / tempo
        at = at + self.rng.uniform(0, grid.FRAME_SECONDS)
        row = np.minimum((at * 1000 / STEP_MS).astype(int), len(analysis) - 1)
        features = analysis[row].astype(np.float32).reshape(-1, vocoder.KNOTS, analysis.shape[1])
        octaves = moved[np.minimum(row, len(moved) - 1)].reshape(-1, vocoder.KNOTS)
        start = int(self.rng.integers(max(1, len(features) - FRAMES)))
        cut = slice(start, start + FRAMES)
        features, octaves = features[cut], octaves[cut] * self.rng.uniform(0.3, 1.5)
        middle = at.reshape(-1, vocoder.KNOTS)[cut].mean(1)
        spoken = np.minimum(np.searchsorted([e for _, e in phones], middle), len(phones) - 1)
        vectors = codes.flatten(features)
        found = np.zeros((1 + len(self.books.details), len(features)), np.int64)
        for i, p in enumerate(spoken):
            some = self.silences if phones[p][0] == grid.SILENCE else self.by_phone[phones[p][0]]
            found[0, i] = some[np.square(self.books.semantic[some] - vectors[i]).sum(1).argmin()]
        rest = vectors - self.books.semantic[found[0]]
        for b, centre in enumerate(self.books.details):
            found[1 + b] = codes.nearest(rest, centre)
            rest = rest - centre[found[1 + b]]
        hertz = np.exp(self.rng.uniform(np.log(82), np.log(240))) * 2.0**octaves
        formant = self.rng.uniform(0.75, 1.12)
        size = int(np.abs(formant - np.array(speakers.FORMANTS)).argmin())
        blocks = np.repeat(hertz.reshape(-1), vocoder.BLOCKS // vocoder.KNOTS)
        wave = vocoder.synthesize_free(features, blocks, formant, self.rng)
        return wave, found, speakers.entries(hertz.mean(1), size)

    def batch(self, size):
        audio, rows, phased = [], [], []
        while len(rows) < size:
            item, is_locked = self.items[self.rng.integers(len(self.items))], self.rng.random() < 0.5
            wave, found, spoken = (self.locked if is_locked else self.natural)(item)
            if found.shape[1] < FRAMES:
                continue
            wave = wave * speakers.GAIN * np.exp(self.rng.uniform(-1.2, 0.7))
            if self.rng.random() < 0.6:
                wave = wave + self.rng.standard_normal(len(wave)) * np.exp(self.rng.uniform(-9, -5))
            if self.rng.random() < 0.3:  # a room's or a microphone's colour
                wave = wave + self.rng.uniform(-0.5, 0.5) * np.concatenate([[0], wave[:-1]])
            rows.append(np.concatenate([found[:1], spoken[None], found[1:]]))
            phased.append(is_locked)
            audio.append(np.clip(wave, -1, 1).astype(np.float32))
        return torch.from_numpy(np.stack(audio))[:, None], torch.from_numpy(np.stack(rows)), torch.tensor(phased)


def trained_parts(codec):
    q = codec.quantizer
    return dict(
        encoder=codec.encoder,
        downsample=q.downsample,
        pre_module=q.pre_module,
        projections=nn.ModuleList(b.in_proj for b in q.books()),
    )


def of_either_phase(logits, entries):
    """Cross-entropy of pitch and size where sound does not tell the phase: it is locked to no frame."""
    shape = (len(speakers.PITCHES), speakers.PHASES, len(speakers.FORMANTS))
    pitch, _, size = speakers.parts(entries.numpy())
    wanted = torch.from_numpy(pitch * shape[2] + size)
    return F.cross_entropy(logits.unflatten(-1, shape).logsumexp(-2).flatten(-2).flatten(0, 1), wanted.flatten())


def losses(codec, sharpness, phone_of_class, audio, rows, phased):
    """-> cross-entropy per book, of the phones, and how often the book is right"""
    z = codec.latents(audio)
    each, right = [], []
    for i, book in enumerate(codec.quantizer.books()):
        logits = book.cosines(z) * sharpness[i].exp()
        if i == 1:
            logits = logits[..., : speakers.COUNT]
        wanted = rows[:, i]
        scored, true = logits[:, SKIP:], wanted[:, SKIP:]
        if i == 1 and not phased.all() and phased.any():
            loss = F.cross_entropy(scored[phased].flatten(0, 1), true[phased].flatten()) / 2
            each.append(loss + of_either_phase(scored[~phased], true[~phased]) / 2)
        elif i == 1 and not phased.any():
            each.append(of_either_phase(scored, true))
        else:
            each.append(F.cross_entropy(scored.flatten(0, 1), true.flatten()))
        right.append((scored.argmax(-1) == true).float().mean().item())
        if i == 0:
            share = scored.softmax(-1) @ phone_of_class
            phone = F.nll_loss((share + 1e-6).log().flatten(0, 1), phone_of_class.argmax(1)[true].flatten())
        z = z - book.entry(wanted)
    return each, phone, right


def run(steps=STEPS):
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    books, lengths = codes.Books.load(), durations.Durations.load()
    data = Listening(books, lengths, range(SHARDS), SEED)
    state = torch.load(config.work("decoder.pt"), weights_only=False)
    codec = Codec(CodecSizes(**state["sizes"]))
    codec.load_state_dict(state["codec"], strict=False)
    codec.requires_grad_(False)
    parts = trained_parts(codec)
    for part in parts.values():
        part.requires_grad_(True)
    names = sorted({k.split()[0] for k in books.groups})
    phone_of_class = torch.zeros(codes.SEMANTIC, len(names))
    for key, (first, end) in books.groups.items():
        phone_of_class[first:end, names.index(key.split()[0])] = 1
    sharpness = nn.Parameter(torch.full((len(codec.quantizer.books()),), 2.7))
    own = [n for n, p in codec.named_parameters() if p.requires_grad]
    parameters = [p for p in codec.parameters() if p.requires_grad] + [sharpness]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, betas=(0.9, 0.98), weight_decay=1e-3)
    path, done = config.work("encoder.pt"), 0
    if path.exists():
        state = torch.load(path, weights_only=False)
        codec.load_state_dict(state["parts"], strict=False)
        sharpness.data.copy_(state["sharpness"])
        if "optimizer" in state:  # a kept checkpoint has none
            optimizer.load_state_dict(state["optimizer"])
        done = state["step"]
    elif EARLIER.exists():
        earlier = torch.load(EARLIER, weights_only=False)
        codec.load_state_dict(earlier["parts"], strict=False)
        sharpness.data.copy_(earlier["sharpness"])
    else:
        audio = data.batch(8)[0]
        even_out(codec.encoder, lambda: codec.encoder(audio))
    average, begun, first = None, time.time(), done
    for step in range(done, steps):
        for group in optimizer.param_groups:
            group["lr"] = schedule(step, steps, RATE, WARM, first)
        each, phone, right = losses(codec, sharpness, phone_of_class, *data.batch(BATCH))
        loss = each[0] + phone + each[1] + 0.2 * sum(each[2:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 3.0)
        optimizer.step()
        now = np.array([phone.item(), *(e.item() for e in each), *right])
        average = now if average is None else 0.97 * average + 0.03 * now
        n = len(each)
        if (step + 1) % 50 == 0:
            print(
                step + 1,
                f"phone {average[0]:.3f} books",
                np.round(average[1 : 1 + n], 3),
                "right",
                np.round(average[1 + n :], 3),
                f"{(time.time() - begun) / (step + 1 - first):.3f} s/step",
                flush=True,
            )
        if (step + 1) % 250 == 0 or step + 1 == steps:
            config.note(
                "encoder",
                steps=step + 1,
                phone=round(average[0], 3),
                semantic_right=round(average[1 + n], 3),
                speaker_right=round(average[2 + n], 3),
            )
            kept = codec.state_dict()
            save(
                path,
                parts={k: kept[k] for k in own},
                sharpness=sharpness.data,
                optimizer=optimizer.state_dict(),
                step=step + 1,
            )


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
