"""Stages `books` and `codes`: the frames' codes, made from the features alone before any network is trained.

Book 0 (semantic): the classes of (phone, how many frames it lasts, which of them this is), each split by k-means into a
few kinds. A code therefore says what is spoken and how far the phone has come. The books after the speaker's hold what
the class's mean leaves of the features, by residual k-means over all frames. All are computed on the teacher's own
voice, so the same words have the same codes whoever speaks; the speaker has a book of his own (speakers.py).
"""

import json
import sys

import numpy as np
from scipy import sparse

from . import align, config, corpus, durations, grid
from .melody import melody
from .vocoder import BANDS, FLOOR, KNOTS

SEMANTIC = 1024
DETAIL_BOOKS = 2
DETAIL = 256
APERIODICITY = 2.0  # its weight against the envelope in distances
WIDTH = 2 * BANDS * KNOTS
EARLIER = config.WORK / "earlier/books.npz"


def flatten(features):
    """features [F, KNOTS, 2*BANDS] -> weighted vectors float32 [F, WIDTH]"""
    x = np.array(features, np.float32)
    x[..., :BANDS] = np.maximum(x[..., :BANDS], FLOOR)
    x[..., BANDS:] *= APERIODICITY
    return x.reshape(len(x), WIDTH)


def unflatten(vectors):
    x = np.array(vectors, np.float32).reshape(-1, KNOTS, 2 * BANDS)
    x[..., BANDS:] /= APERIODICITY
    return x


def states(names, lengths):
    """One key per frame: phone, its length (4 = four or more), place ("m": between second and last of a long one)."""
    keys = []
    for i, (name, n) in enumerate(zip(names, lengths)):
        if name == grid.SILENCE:
            kind = "lead" if i == 0 else "tail" if i == len(names) - 1 else "pause"
            keys += [f"{kind} {n} {j}" for j in range(n)]
        else:
            keys += [f"{name} {min(n, 4)} {j if j < min(n, 3) else 'z' if j == n - 1 else 'm'}" for j in range(n)]
    return keys


def kmeans(x, k, rng, rounds=12, start=None):
    """x [N, D] -> centres [k, D]; an empty cluster restarts at a random vector. start: centres to begin with."""
    centre = x[rng.choice(len(x), k, replace=len(x) < k)].copy() if start is None else start.copy()
    for _ in range(rounds):
        near = nearest(x, centre)
        count = np.bincount(near, minlength=k)
        total = sparse.csr_matrix((np.ones(len(x), np.float32), (near, np.arange(len(x)))), (k, len(x))) @ x
        centre = np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], x[rng.integers(0, len(x), k)])
    return centre.astype(np.float32)


def nearest(x, centre):
    out = np.empty(len(x), np.int64)
    half = 0.5 * np.square(centre).sum(1)
    for at in range(0, len(x), 8192):
        out[at : at + 8192] = (half - x[at : at + 8192] @ centre.T).argmin(1)
    return out


def shares(counts, spreads, total):
    """How many classes each state gets: by the square root of frames times spread; silences get one."""
    weight = np.sqrt(counts * spreads)
    low, high = 0.0, total / weight.sum() * 4
    for _ in range(60):
        mid = (low + high) / 2
        share = np.clip(np.round(weight * mid), 1, np.maximum(1, counts // 12))
        low, high = (mid, high) if share.sum() <= total else (low, mid)
    return np.clip(np.round(weight * low), 1, np.maximum(1, counts // 12)).astype(int)


class Books:
    """The offline codebooks: semantic centres [SEMANTIC, WIDTH], which belong to which state, detail centres."""

    def __init__(self, semantic, groups, details):
        self.semantic, self.groups, self.details = semantic, groups, details

    def encode(self, keys, vectors):
        """-> codes int64 [1 + DETAIL_BOOKS, F]"""
        codes = np.zeros((1 + len(self.details), len(keys)), np.int64)
        for i, key in enumerate(keys):
            first, end = self.group(key)
            codes[0, i] = first + np.square(self.semantic[first:end] - vectors[i]).sum(1).argmin()
        rest = vectors - self.semantic[codes[0]]
        for b, centre in enumerate(self.details):
            codes[1 + b] = nearest(rest, centre)
            rest = rest - centre[codes[1 + b]]
        return codes

    def group(self, key):
        if key in self.groups:
            return self.groups[key]
        name, n, place = key.split()
        for m in (3, 4, 2, 1):  # a state never seen: the same phone at another length
            for other in (place, "0"):
                if f"{name} {m} {other}" in self.groups:
                    return self.groups[f"{name} {m} {other}"]
        raise KeyError(key)

    def decode(self, codes):
        """codes [1 + details, F] -> features [F, KNOTS, 2*BANDS]"""
        return unflatten(self.semantic[codes[0]] + sum(d[c] for d, c in zip(self.details, codes[1:])))

    def save(self, path):
        np.savez(path, semantic=self.semantic, details=np.stack(self.details), groups=json.dumps(self.groups))

    @classmethod
    def load(cls, path=None):
        z = np.load(path or config.work("books.npz"))
        return cls(z["semantic"], {k: tuple(v) for k, v in json.loads(str(z["groups"])).items()}, list(z["details"]))


def learn(laid, seed=1, earlier=None):
    """laid: lists of (keys, vectors) -> Books and the figures of the fit.

    earlier: Books of another teacher. Their states keep their entries and every entry begins where it was, moved as the
    state's mean has moved; so an entry goes on meaning the same, and networks that know the earlier books need to learn
    less."""
    rng = np.random.default_rng(seed)
    keys = np.array([k for ks, _ in laid for k in ks])
    x = np.concatenate([v for _, v in laid])
    kinds, which = np.unique(keys, return_inverse=True)
    order = np.argsort(which, kind="stable")
    edges = np.searchsorted(which[order], np.arange(len(kinds) + 1))
    members = {str(k): order[a:b] for k, a, b in zip(kinds, edges[:-1], edges[1:])}
    groups, centres = grouped(x, members, rng) if earlier is None else regrouped(x, members, rng, earlier)
    semantic = np.concatenate([*centres, np.zeros((SEMANTIC - sum(map(len, centres)), WIDTH), np.float32)])
    books = Books(semantic, groups, [])
    some = [laid[i] for i in rng.permutation(len(laid))[:1200]]
    rest = np.concatenate([v - semantic[books.encode(k, v)[0]] for k, v in some])
    classes = sum(map(len, centres))
    figures = dict(
        states=len(groups), classes=classes, variance=float(x.var(0).sum()), after_0=float(rest.var(0).sum())
    )
    for b in range(DETAIL_BOOKS):
        centre = kmeans(rest, DETAIL, rng, start=earlier and earlier.details[b])
        books.details.append(centre)
        rest = rest - centre[nearest(rest, centre)]
        figures[f"after_{b + 1}"] = float(rest.var(0).sum())
    return books, figures


def grouped(x, members, rng):
    """-> {state: (first, end)} and each state's centres, as many as its frames and their spread deserve"""
    spread = np.array([x[m].var(0).sum() for m in members.values()])
    quiet = np.array([k.split()[0] in ("lead", "tail", "pause") for k in members])
    share = shares(np.array([len(m) for m in members.values()]), np.where(quiet, 0, spread), SEMANTIC)
    groups, centres, first = {}, [], 0
    for (kind, member), n in zip(members.items(), share):
        centres.append(kmeans(x[member], n, rng))
        groups[kind] = (first, first + int(n))
        first += int(n)
    return groups, centres


def regrouped(x, members, rng, earlier):
    """The same with the states and the numbers of earlier books."""
    centres = []
    for kind, (first, end) in earlier.groups.items():
        centre = earlier.semantic[first:end]
        member = members.get(kind, ())
        if len(member) >= 4 * (end - first):
            centre = centre + x[member].mean(0) - centre.mean(0)
            centre = kmeans(x[member], end - first, rng, start=centre)
        centres.append(centre.astype(np.float32))
    return earlier.groups, centres


def lay(spoken, lengths, times):
    """corpus items -> texts, [(names, lengths in frames)], [(states, vectors)], melodies [frames]"""
    texts, named, laid, melodies = [], [], [], []
    for sentence, phones, analysis, pitch in spoken:
        analysis = analysis.astype(np.float32)
        phones = align.times(times, phones, analysis)
        names, n, features, moved = grid.lay(phones, analysis, melody(pitch), config.TEMPO, lengths)
        texts.append(sentence)
        named.append((names, n))
        laid.append((states(names, n), flatten(features)))
        melodies.append(moved)
    return texts, named, laid, melodies


def run_books():
    spoken, times = corpus.load(range(config.BOOK_SHARDS)), align.load()
    mean = durations.learn([align.times(times, phones, analysis) for _, phones, analysis, _ in spoken])
    config.work("durations.json").write_text(json.dumps(mean))
    earlier = Books.load(EARLIER) if EARLIER.exists() else None
    books, figures = learn(lay(spoken, durations.Durations(mean), times)[2], earlier=earlier)
    books.save(config.work("books.npz"))
    config.note("books", utterances=len(spoken), **figures)


def run():
    books, lengths, times = Books.load(), durations.Durations.load(), align.load()
    texts, named, codes, melodies = [], [], [], []
    for index in range(config.SHARDS):
        t, n, laid, moved = lay(corpus.load([index]), lengths, times)
        texts += t
        named += n
        codes += [books.encode(k, v) for k, v in laid]
        melodies += moved
    end = np.cumsum([c.shape[1] for c in codes])
    np.savez(
        config.work("codes.npz"),
        text=np.array(texts),
        phones=np.array([" ".join(n) for n, _ in named]),
        lengths=np.array([" ".join(map(str, n)) for _, n in named]),
        codes=np.concatenate(codes, 1).astype(np.int16),
        melody=np.concatenate(melodies).astype(np.float16),
        end=end,
    )
    config.note("codes", utterances=len(texts), frames=int(end[-1]))


def load():
    """-> list of (text, phone names, lengths in frames, codes int16 [1 + DETAIL_BOOKS, F], melody [F])"""
    z = np.load(config.work("codes.npz"))
    at = np.concatenate([[0], z["end"]])
    codes, moved = z["codes"], z["melody"].astype(np.float32)
    return [
        (str(t), p.split(), [int(x) for x in n.split()], codes[:, at[i] : at[i + 1]], moved[at[i] : at[i + 1]])
        for i, (t, p, n) in enumerate(zip(z["text"], z["phones"], z["lengths"]))
    ]


if __name__ == "__main__":
    (run_books if sys.argv[1:] == ["books"] else run)()
