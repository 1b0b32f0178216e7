"""Stage `cloning`: the Dual-AR goes on learning, with references as people give them: 0 to 20 s, several sentences.

Most of them are other voices that came through the encoder (references.py), so the model learns not to trust their
every code, to find its place in a long prompt, and to be silent where there is no word.
"""

import sys
import time

import numpy as np
import torch
from tokenizers import Tokenizer

from . import codes, config, prompts, references, speakers, train_ar
from .grid import FRAME_SECONDS
from .make_tokenizer import PAUSE
from .muon import advance, optimizers, restore, set_rate, states
from .prompts import VOCAB, Heard
from .train_decoder import save, schedule

STEPS = config.size(5600, 20)
RATE = 1.6e-3
WARM = 60
LONGEST = 20.0  # seconds of a reference
ALONE, HEARD = 0.35, 0.6  # shares: examples without a reference; references that came through the encoder
WORDLESS = 0.03  # texts without words
KEEP_EVERY = 100
CHECKED_SECONDS = (3, 8, 16)
SEED = 41


class Voices:
    """References of any length from the sessions, each with the speaker that its codes name most often."""

    def __init__(self, sessions, rng):
        self.sessions, self.rng = sessions, rng
        groups = codes.Books.load().groups
        self.voiced = np.ones(codes.SEMANTIC, bool)
        for key, (first, end) in groups.items():
            if key.split()[0] in ("lead", "pause", "tail"):
                self.voiced[first:end] = False

    def pick(self, seconds):
        """-> `Heard` of the sentences of one session that come nearest to that length, and its speaker"""
        said = self.sessions[self.rng.integers(len(self.sessions))]
        first = int(self.rng.integers(len(said)))
        lengths = np.array([h.codes.shape[1] for h in said]) * FRAME_SECONDS
        while first and lengths[first:].sum() < seconds:
            first -= 1
        count = 1 + int(np.abs(np.cumsum(lengths[first:]) - seconds).argmin())
        return self.join(said[first : first + count])

    def join(self, said):
        tokens = [said[0].tokens]
        for h in said[1:]:
            tokens += [[VOCAB[PAUSE]], h.tokens]
        frames = np.concatenate([h.codes for h in said], 1)
        return Heard(np.concatenate(tokens), frames), self.speaker(frames)

    def speaker(self, frames):
        """Whom the frames with a voice name."""
        voiced = frames[1][self.voiced[frames[0]]]
        return speakers.heard(voiced if len(voiced) else frames[1])


class Examples(train_ar.Examples):
    tokens = 2400

    def __init__(self, utterances, pause, tokenizer, sessions, seed):
        super().__init__(utterances, pause, tokenizer, seed)
        self.voices = Voices(sessions, self.rng)

    def several(self, shares):
        """One utterance, or with these chances two, three, ... joined."""
        u = self.one()
        for _ in range(self.rng.choice(len(shares), p=shares)):
            u = prompts.join(u, self.one(), self.pause if self.rng.random() < 0.6 else None)
        return u

    def clean(self, seconds):
        """-> a reference in the teacher's own codes, of at least one sentence"""
        u = self.one()
        while u.codes.shape[1] * FRAME_SECONDS < seconds - 1.5:
            u = prompts.join(u, self.one(), self.pause)
        return u

    def example(self):
        rng = self.rng
        u = self.several((0.55, 0.3, 0.15))
        if rng.random() < WORDLESS:
            u = prompts.without_words(u)
        turns = [u, self.one()] if rng.random() < 0.06 else [u]
        if rng.random() < ALONE:
            return self.builder.example(turns)
        seconds = rng.uniform(0, LONGEST)
        if rng.random() < HEARD:
            return self.builder.example(turns, *self.voices.pick(seconds))
        speaker = speakers.draw(rng)
        u = self.clean(seconds)
        return self.builder.example(turns, Heard(u.tokens, self.builder.spoil(u, speaker, True)), speaker)


def build_batch(examples):
    return {k: torch.from_numpy(v) for k, v in prompts.collate(examples).items()}


@torch.no_grad()
def on_target(model, batch):
    """The share of the last guided layer's first head that lies on the text being spoken, over the frames."""
    x = model.embed(batch["ids"], batch["codes"])
    table, last = model.table[: x.shape[1]], train_ar.GUIDED_LAYERS[-1]
    for layer in model.layers[:last]:
        x = layer(x, table)
    layer = model.layers[last]
    q, k, _ = layer.attention.project(layer.attention_norm(x), table)
    scores = (q[:, 0] @ k[:, 0].transpose(-1, -2)) * q.shape[-1] ** -0.5
    t = scores.shape[-1]
    weight = (scores + torch.full((t, t), float("-inf")).triu(1)).softmax(-1)
    found = []
    for w, current, following in zip(weight, batch["current"], batch["following"]):
        spoken = current >= 0
        found.append(w[spoken][:, current[spoken].min() : following.max() + 1].sum(-1))
    return torch.cat(found).mean().item()


@torch.no_grad()
def validate(model, utterances, sessions, tokenizer):
    """Cross-entropy of the semantic code on unseen utterances behind unseen references of each length."""
    model.eval()
    figures = {}
    for seconds in (0, *CHECKED_SECONDS):
        rng = np.random.default_rng(0)
        voices, builder = Voices(sessions, rng), prompts.Builder(tokenizer, rng)
        entropy, looking = [], []
        for u in utterances[:24]:
            heard = voices.pick(seconds) if seconds else ()
            batch = build_batch([builder.example([u], *heard, spoil=False)])
            entropy.append(train_ar.losses(model, batch, fast_frames=None)[0].item())
            looking.append(on_target(model, batch))
        figures[f"at_{seconds}"] = dict(semantic=round(np.mean(entropy), 3), on_target=round(np.mean(looking), 3))
    model.train()
    return figures


def run(steps=STEPS):
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    tokenizer = Tokenizer.from_file(str(config.work("tokenizer.json")))
    utterances, pause = prompts.load(tokenizer)
    sessions = references.load()
    held = utterances[-config.VALIDATION :], sessions[-references.VALIDATION :]
    path = config.work("ar.pt")
    state = torch.load(path, weights_only=False)
    model = train_ar.build()
    model.load_state_dict(state["model"])
    done = state.get("cloning", 0)
    learners = optimizers(model.parameters(), model.ends(), RATE, (0.9, 0.98), 0.02)
    if done:
        restore(learners, state)
    else:
        config.note("cloning", steps=done, **validate(model, *held, tokenizer))
    data = Examples(utterances[: -config.VALIDATION], pause, tokenizer, sessions[: -references.VALIDATION], SEED + done)
    average, begun, first, cpu = None, time.time(), done, time.process_time()
    for step in range(done, steps):
        set_rate(learners, schedule(step, steps, RATE, WARM, first))
        slow, each, guide, right = train_ar.losses(model, data.batch())
        loss = slow + 0.5 * each.sum() + train_ar.GUIDED_WEIGHT * guide
        advance(learners, loss, model.parameters(), 1.0)
        now = np.array([slow.item(), right.item(), guide.item(), *each.tolist()])
        average = now if average is None else 0.96 * average + 0.04 * now
        if (step + 1) % 25 == 0:
            passed = step + 1 - first
            print(
                step + 1,
                "semantic {:.3f} right {:.3f} guide {:.3f} books".format(*average),
                np.round(average[3:], 2),
                f"{(time.time() - begun) / passed:.2f} s/step {(time.process_time() - cpu) / passed:.2f} cpu",
                flush=True,
            )
        if (step + 1) % KEEP_EVERY == 0 or step + 1 == steps:
            save(
                path,
                model=model.state_dict(),
                sizes=model.sizes.dict(),
                optimizer=states(learners),
                step=state["step"],
                cloning=step + 1,
            )
        if (step + 1) % (2 * KEEP_EVERY) == 0 or step + 1 == steps:
            config.note("cloning", steps=step + 1, **validate(model, *held, tokenizer))


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
