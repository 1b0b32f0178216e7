"""Training examples for the Dual-AR, in exactly the layout of a prompt, and where each frame's phone is."""

import pickle
from dataclasses import dataclass

import numpy as np

from . import codes, config, grid, speakers
from .make_tokenizer import GAP, PAUSE, PHONE_CHAR, SEMANTIC_BEGIN, vocabulary

VOCAB = vocabulary()
END = VOCAB["<|im_end|>"]
OTHERS = 0.3  # share of the phones that the teacher may say otherwise than the tokens
SLIP = 3  # halves of a period that the pitch of a frame may be wrong by


@dataclass
class Utterance:
    tokens: np.ndarray  # text token ids [n]
    codes: np.ndarray  # int64 [1 + details, F], without the speaker
    place: np.ndarray  # [F] index of the token spoken in each frame
    melody: np.ndarray  # [F] octaves around the middle of the utterance

    def following(self):
        """-> [F] index of the phone or pause after the one spoken in each frame; behind the last, that of the end"""
        if not len(self.tokens):
            return self.place
        after = np.arange(1, len(self.tokens) + 1)
        after[:-1] += self.tokens[1:] == VOCAB[GAP]  # there are never two gaps in a row, nor one at the end
        return after[self.place]


@dataclass
class Heard:
    """A reference as the encoder hears it: what was said and all books' codes, the speaker's too. Nothing to learn."""

    tokens: np.ndarray
    codes: np.ndarray  # int64 [2 + details, F]


def match(spoken, tokens):
    """Edit-distance alignment: for every phone spoken the index of its token (or of the last one matched before)."""
    n, m = len(spoken), len(tokens)
    cost = np.zeros((n + 1, m + 1), int)
    cost[:, 0], cost[0] = np.arange(n + 1), np.arange(m + 1)
    for i in range(n):
        for j in range(m):
            cost[i + 1, j + 1] = min(cost[i, j] + (spoken[i] != tokens[j]), cost[i, j + 1] + 1, cost[i + 1, j] + 1)
    place, j = np.zeros(n, int), m
    i = n
    while i > 0:
        if j > 0 and cost[i, j] == cost[i - 1, j - 1] + (spoken[i - 1] != tokens[j - 1]):
            i, j = i - 1, j - 1
            place[i] = j
        elif j > 0 and cost[i, j] == cost[i, j - 1] + 1:
            j -= 1
        else:
            i -= 1
            place[i] = min(j, m - 1)
    return place


def utterance(tokenizer, text, names, lengths, frame_codes, melody):
    """-> Utterance, or None if the teacher said something else than the tokens"""
    tokens = np.array(tokenizer.encode(text, add_special_tokens=False).ids)
    spoken = [VOCAB[PAUSE] if n == grid.SILENCE else VOCAB[PHONE_CHAR[n]] for n in names[1:-1]]
    said = np.flatnonzero(tokens != VOCAB[GAP])
    inner = said[match(spoken, tokens[said].tolist())]
    wrong = sum(tokens[p] != s for p, s in zip(inner, spoken)) + abs(len(spoken) - len(said))
    if wrong > 2 + OTHERS * len(spoken):
        return None
    place = np.repeat(np.concatenate([[0], inner, [len(tokens) - 1]]), lengths)
    return Utterance(tokens, frame_codes.astype(np.int64), place, melody)


def without_words(u):
    """The silence around an utterance, for a text without words."""
    frames = np.concatenate([u.codes[:, : grid.LEAD], u.codes[:, -grid.TAIL :]], 1)
    return Utterance(u.tokens[:0], frames, np.zeros(frames.shape[1], int), np.zeros(frames.shape[1], np.float32))


def join(a, b, pause):
    """One utterance of two. pause: codes [1 + details, PAUSE] to go between, behind a pause mark; or None: at once."""
    n, head = len(a.tokens), a.codes.shape[1] - grid.TAIL
    mark, gap = ([VOCAB[GAP]], a.codes[:, :0]) if pause is None else ([VOCAB[PAUSE]], pause)
    return Utterance(
        np.concatenate([a.tokens, np.array(mark, int), b.tokens]),
        np.concatenate([a.codes[:, :head], gap, b.codes[:, grid.LEAD :]], 1),
        np.concatenate([a.place[:head], np.full(gap.shape[1], n), b.place[grid.LEAD :] + n + len(mark)]),
        np.concatenate([a.melody[:head], np.full(gap.shape[1], b.melody[grid.LEAD]), b.melody[grid.LEAD :]]),
    )


def spoken_by(u, speaker):
    """All books' codes of an utterance in a speaker's voice."""
    return np.concatenate([u.codes[:1], speakers.spoken(u.melody, speaker)[None], u.codes[1:]])


class Builder:
    """Puts segments together: ids [T], codes [T, books], and for each position what it has to foretell."""

    def __init__(self, tokenizer, rng):
        self.rng = rng
        self.text = {
            s: np.array(tokenizer.encode(s, add_special_tokens=False).ids)
            for s in (
                "<|im_start|>system\n",
                "convert the provided text to speech",
                "convert the provided text to speech reference to the following:\n\nText:\n",
                "<|speaker:0|>",
                "\n\nSpeech:\n",
                "<|im_end|>\n",
                "<|im_start|>user\n",
                "<|im_start|>assistant\n<|voice|>",
            )
        }

    def start(self):
        self.ids, self.shown, self.said, self.length = [], [], [], 0

    def add(self, ids):
        self.ids.append(ids)
        self.length += len(ids)

    def show(self, shown):
        """Frames as the model will see them: codes [books, F]"""
        self.shown.append((self.length, shown))
        self.add(SEMANTIC_BEGIN + shown[0])

    def say(self, u, text_at, speaker, shown):
        """The frames of an utterance whose text starts at position text_at, to be learnt."""
        self.said.append((self.length, spoken_by(u, speaker), text_at + u.place, text_at + u.following()))
        self.show(shown)

    def spoil(self, u, speaker, reference):
        """Codes with the mistakes the model will meet: its own, and in references the encoder's."""
        rng, frames = self.rng, u.codes.shape[1]
        shown = spoken_by(u, speaker)
        wrong = rng.random(frames) < 0.04
        shown[0, wrong] = u.codes[0, rng.integers(0, frames, wrong.sum())]
        wrong = rng.random(frames) < 0.3
        shown[2:, wrong] = u.codes[1:, rng.integers(0, frames, wrong.sum())]
        rate, sizes = 0.04, None
        if reference:
            rate = rng.uniform(0, 0.35) if rng.random() < 0.7 else 0.0
            if rng.random() < 0.5:
                shown[1, : rng.integers(1, 6)] = rng.integers(speakers.COUNT)
            if rng.random() < 0.3:
                some = rng.random(frames) < rng.uniform(0.1, 0.8)
                shown[0, some] = rng.integers(0, codes.SEMANTIC, some.sum())
        wrong = rng.random(frames) < rate
        if reference:
            sizes = rng.integers(0, len(speakers.FORMANTS), wrong.sum())
        shown[1, wrong] = speakers.shifted(shown[1, wrong], rng.integers(-SLIP, SLIP + 1, wrong.sum()), sizes)
        return shown

    def example(self, turns, reference=None, speaker=speakers.DEFAULT, spoil=True):
        """turns: utterances said one after the other; reference: an `Utterance`, said by the same speaker, or `Heard`.
        Only the frames of the turns are to be learnt, and a clean reference's: those that are `Heard` are only seen.

        -> dict of arrays: ids [T], codes [T, books], target [T] (-1: none), target_codes [T, books], current and
        following token [T]"""
        self.start()
        shown = (lambda u, ref: self.spoil(u, speaker, ref)) if spoil else (lambda u, ref: spoken_by(u, speaker))
        self.add(self.text["<|im_start|>system\n"])
        if reference is None:
            self.add(self.text["convert the provided text to speech"])
        else:
            self.add(self.text["convert the provided text to speech reference to the following:\n\nText:\n"])
            self.add(self.text["<|speaker:0|>"])
            at = self.length
            self.add(reference.tokens)
            self.add(self.text["\n\nSpeech:\n"])
            if isinstance(reference, Heard):
                self.show(reference.codes)
            else:
                self.say(reference, at, speaker, shown(reference, True))
        self.add(self.text["<|im_end|>\n"])
        for u in turns:
            self.add(self.text["<|im_start|>user\n"])
            at = self.length
            self.add(u.tokens)
            self.add(self.text["<|im_end|>\n"])
            self.add(self.text["<|im_start|>assistant\n<|voice|>"])
            self.say(u, at, speaker, shown(u, False))
            self.add(self.text["<|im_end|>\n"])
        return self.finish()

    def finish(self):
        n, books = self.length, len(self.shown[0][1])
        out = dict(
            ids=np.concatenate(self.ids),
            codes=np.zeros((n, books), np.int64),
            target=np.full(n, -1),
            target_codes=np.zeros((n, books), np.int64),
            current=np.full(n, -1),
            following=np.full(n, -1),
        )
        for start, shown in self.shown:
            out["codes"][start : start + shown.shape[1]] = shown.T
        for start, full, place, following in self.said:
            frames = full.shape[1]
            before = slice(start - 1, start - 1 + frames)
            out["target"][before] = SEMANTIC_BEGIN + full[0]
            out["target"][start - 1 + frames] = END
            out["target_codes"][before] = full.T
            out["current"][before], out["following"][before] = place, following
        return out


def collate(examples):
    """-> dict of int64 arrays [B, T, ...]; padding has target -1"""
    t = max(len(e["ids"]) for e in examples)
    out = {}
    for name in examples[0]:
        fill = -1 if name in ("target", "current", "following") else 0
        out[name] = np.stack(
            [np.concatenate([e[name], np.full((t - len(e["ids"]), *e[name].shape[1:]), fill)]) for e in examples]
        ).astype(np.int64)
    return out


def load(tokenizer):
    """-> utterances of the corpus (validation ones last) and the codes of one pause

    Kept for the next stage: the tokenizer takes some 20 ms a sentence."""
    kept = config.work("utterances.pickle")
    made_of = [config.work(name) for name in ("codes.npz", "tokenizer.json")]
    if kept.exists() and all(kept.stat().st_mtime > path.stat().st_mtime for path in made_of):
        return pickle.loads(kept.read_bytes())
    found, pause = [], None
    for text, names, lengths, c, melody in codes.load():
        u = utterance(tokenizer, text, names, lengths, c, melody)
        if u is not None:
            found.append(u)
        if pause is None and grid.SILENCE in names[1:-1]:
            at = sum(lengths[: names.index(grid.SILENCE, 1)])
            pause = c[:, at : at + grid.PAUSE].astype(np.int64)
    config.note("utterances", spoken=len(codes.load()), kept=len(found))
    kept.write_bytes(pickle.dumps((found, pause)))
    return found, pause
