"""Stage `ar`: the Dual-AR learns to turn phones into codes, in a reference's voice or, without one, the default voice.

Two attention heads of the two middle layers are shown where to look: at the phone being spoken and at the next one.
"""

import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from . import codes, config, prompts, speakers
from .make_tokenizer import SEMANTIC, SEMANTIC_BEGIN
from .muon import advance, optimizers, restore, set_rate, states
from .nets.dual_ar import ARSizes, DualAR
from .train_decoder import save, schedule

STEPS = config.size(9200, 30)
FAST_FRAMES = 300  # frames of a batch that the Fast-AR is trained on
RATE = 2.5e-3
WARM = 200
GUIDED_LAYERS, GUIDED_WEIGHT = (1, 2), 0.5
SEED = 5
BFLOAT16 = torch.cpu.get_capabilities().get("avx512_bf16", False)  # elsewhere it is four times slower than float32


EARLIER = config.WORK / "earlier/ar.pt"  # of a voice with the same states (codes.regrouped), if there is one


def build():
    return DualAR(
        ARSizes(
            vocab=SEMANTIC_BEGIN + SEMANTIC,
            semantic_begin=SEMANTIC_BEGIN,
            codebook_size=SEMANTIC,
            codebooks=2 + codes.DETAIL_BOOKS,
            layers=4,
            fast_dim=192,
            fast_ffn=512,
            fast_heads=3,
            fast_kv_heads=3,
            fast_layers=2,
            fast_project_in=False,
        )
    )


class Examples:
    """Endless batches of similar length."""

    tokens = 1800  # per batch, padding included

    def __init__(self, utterances, pause, tokenizer, seed):
        self.utterances, self.pause = utterances, pause
        self.rng = np.random.default_rng(seed)
        self.builder = prompts.Builder(tokenizer, self.rng)
        self.ready = []

    def one(self):
        return self.utterances[self.rng.integers(len(self.utterances))]

    def example(self):
        u = self.one()
        for _ in range(self.rng.choice(3, p=(0.5, 0.3, 0.2))):
            u = prompts.join(u, self.one(), self.pause if self.rng.random() < 0.6 else None)
        turns = [u, self.one()] if self.rng.random() < 0.12 else [u]
        if self.rng.random() < 0.4:
            return self.builder.example(turns)
        return self.builder.example(turns, self.one(), speakers.draw(self.rng))

    def batch(self):
        if not self.ready:
            made = sorted((self.example() for _ in range(120)), key=lambda e: len(e["ids"]))
            group = []
            for e in made:
                if group and (len(group) + 1) * len(e["ids"]) > self.tokens:
                    self.ready.append(group)
                    group = []
                group.append(e)
            self.rng.shuffle(self.ready)
        return {k: torch.from_numpy(v) for k, v in prompts.collate(self.ready.pop()).items()}


def guided(q, k, batch):
    """q, k [B, heads, T, hd] -> mean of -log(attention paid to the current / following token) for heads 0 and 1"""
    scores = (q[:, :2].float() @ k[:, :2].float().transpose(-1, -2)) * q.shape[-1] ** -0.5
    t = scores.shape[-1]
    scores = scores + torch.full((t, t), float("-inf")).triu(1)
    log_weight = scores.log_softmax(-1)
    where = torch.stack([batch["current"], batch["following"]], 1)
    picked = log_weight.gather(-1, where.clamp(min=0)[..., None])[..., 0]
    return -picked[where >= 0].clamp(min=-8).mean()


def losses(model, batch, fast_frames=FAST_FRAMES):
    with torch.autocast("cpu", torch.bfloat16, enabled=BFLOAT16):
        x = model.embed(batch["ids"], batch["codes"])
        table, guide = model.table[: x.shape[1]], 0.0
        for i, layer in enumerate(model.layers):
            q, k, v = layer.attention.project(layer.attention_norm(x), table)
            if i in GUIDED_LAYERS:
                guide = guide + guided(q, k, batch) / len(GUIDED_LAYERS)
            x = layer.add(x, layer.attention.attend(q, k, v))
        scored = batch["target"] >= 0
        hidden, target = model.norm(x)[scored], batch["target"][scored]
        logits = model.logits(hidden).float()
        frame = target >= SEMANTIC_BEGIN
        hidden, frames = hidden[frame], batch["target_codes"][scored][frame]
        if fast_frames and len(hidden) > fast_frames:
            pick = torch.randperm(len(hidden))[:fast_frames]
            hidden, frames = hidden[pick], frames[pick]
        fast = model.fast(hidden, frames[:, :-1]).float()
    slow = F.cross_entropy(logits, target)
    each = (
        F.cross_entropy(fast.flatten(0, 1), frames[:, 1:].flatten(), reduction="none")
        .view(-1, frames.shape[1] - 1)
        .mean(0)
    )
    right = (logits.argmax(-1) == target).float().mean()
    return slow, each, guide, right


@torch.no_grad()
def validate(model, utterances, tokenizer):
    """Figures on unseen utterances: cross-entropies, and how much worse the wrong text fares."""
    model.eval()
    rng = np.random.default_rng(0)
    builder = prompts.Builder(tokenizer, rng)
    some = utterances[:24]
    batch = {
        k: torch.from_numpy(v) for k, v in prompts.collate([builder.example([u], spoil=False) for u in some]).items()
    }
    slow, each, guide, right = losses(model, batch, fast_frames=None)
    swapped = [
        prompts.Utterance(some[i - 1].tokens, u.codes, np.minimum(u.place, len(some[i - 1].tokens) - 1), u.melody)
        for i, u in enumerate(some)
    ]
    other = {
        k: torch.from_numpy(v) for k, v in prompts.collate([builder.example([u], spoil=False) for u in swapped]).items()
    }
    gap = losses(model, other, fast_frames=None)[0] - slow
    model.train()
    return dict(
        semantic=slow.item(),
        right=right.item(),
        books=[round(e, 3) for e in each.tolist()],
        guide=guide.item(),
        wrong_text_gap=gap.item(),
    )


def run(steps=STEPS):
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    tokenizer = Tokenizer.from_file(str(config.work("tokenizer.json")))
    utterances, pause = prompts.load(tokenizer)
    held = utterances[-config.VALIDATION :]
    model, path, done = build(), config.work("ar.pt"), 0
    with torch.no_grad():
        for p in (model.embeddings.weight, model.codebook_embeddings.weight, model.fast_embeddings.weight):
            p.normal_(0, 0.02 if p is model.embeddings.weight else 0.1)
    learners = optimizers(model.parameters(), model.ends(), RATE, (0.9, 0.98), 0.02)
    if path.exists():
        state = torch.load(path, weights_only=False)
        model.load_state_dict(state["model"])
        restore(learners, state)
        done = state["step"]
    elif EARLIER.exists():
        model.load_state_dict(torch.load(EARLIER, weights_only=False)["model"])
    data = Examples(utterances[: -config.VALIDATION], pause, tokenizer, SEED + done)
    average, begun, first, cpu = None, time.time(), done, time.process_time()
    for step in range(done, steps):
        set_rate(learners, schedule(step, steps, RATE, WARM, first))
        slow, each, guide, right = losses(model, data.batch())
        loss = slow + 0.5 * each.sum() + GUIDED_WEIGHT * (1 if step < steps // 2 else 0.3) * guide
        advance(learners, loss, model.parameters(), 1.0)
        now = np.array([slow.item(), right.item(), guide.item(), *each.tolist()])
        average = now if average is None else 0.96 * average + 0.04 * now
        if (step + 1) % 50 == 0:
            passed = step + 1 - first
            print(
                step + 1,
                "semantic {:.3f} right {:.3f} guide {:.3f} books".format(*average),
                np.round(average[3:], 2),
                f"{(time.time() - begun) / passed:.2f} s/step {(time.process_time() - cpu) / passed:.2f} cpu",
                flush=True,
            )
        if (step + 1) % 200 == 0 or step + 1 == steps:
            config.note("ar", steps=step + 1, **validate(model, held, tokenizer))
            save(
                path,
                model=model.state_dict(),
                sizes=model.sizes.dict(),
                optimizer=states(learners),
                step=step + 1,
            )


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
