"""Stage `align`: when each phone is spoken. The teacher's times are rough, so they are learned from its sound.

Every phone is three states in a row, each one Gaussian of cepstra, voicing and their slopes (a hidden Markov model).
The states' figures and the best times near the rough ones are found by turns (Viterbi training).
"""

import numpy as np
from scipy.fft import dct

from . import config, corpus
from .teacher import STEP_MS
from .vocoder import BANDS, FLOOR

STATES = 3
CEPSTRA = 13
SLOPE = 3  # steps to both sides that a slope is taken over
NEAR = 160.0  # ms that a border may lie from the rough one
ROUNDS, LEARNED = 8, 900  # turns, and the utterances they are learned from


def observe(analysis):
    """analysis [T, 2 * BANDS] -> what the states describe: float32 [T, 2 * (CEPSTRA + 1)]"""
    x = np.asarray(analysis, np.float32)
    cepstra = dct(np.maximum(x[:, :BANDS], FLOOR), norm="ortho", axis=1)[:, :CEPSTRA]
    x = np.concatenate([cepstra, 4 * x[:, BANDS : 2 * BANDS].mean(1, keepdims=True)], 1)
    padded = np.pad(x, ((SLOPE, SLOPE), (0, 0)), mode="edge")
    return np.concatenate([x, padded[2 * SLOPE :] - padded[: -2 * SLOPE]], 1)


def states(names):
    """-> for every phone its states, by name and place."""
    return [f"{name} {i}" for name in names for i in range(STATES)]


class Model:
    def __init__(self, mean, variance):
        self.mean, self.variance = mean, variance  # {state: [D]}

    @classmethod
    def learn(cls, pairs):
        """pairs: lists of (states, observations [T, D], border after each state [n])"""
        total, square, count = {}, {}, {}
        for keys, seen, borders in pairs:
            for key, a, b in zip(keys, [0, *borders[:-1]], borders):
                x = seen[a:b]
                total[key] = total.get(key, 0) + x.sum(0)
                square[key] = square.get(key, 0) + np.square(x).sum(0)
                count[key] = count.get(key, 0) + len(x)
        spread = sum(square.values()) / sum(count.values()) - np.square(sum(total.values()) / sum(count.values()))
        mean = {k: total[k] / max(n, 1) for k, n in count.items()}
        variance = {k: np.maximum(square[k] / max(n, 1) - mean[k] ** 2, 0.02 * spread) for k, n in count.items()}
        return cls(mean, variance)

    def scores(self, keys, seen):
        """-> log likelihood [T, states]"""
        mean = np.stack([self.mean[k] for k in keys])
        precise = 1 / np.stack([self.variance[k] for k in keys])
        constant = -0.5 * ((mean**2 * precise).sum(1) - np.log(precise).sum(1))
        return (constant + seen @ (mean * precise).T - 0.5 * np.square(seen) @ precise.T).astype(np.float32)


def path(scores, rough, near):
    """scores [T, S], rough borders [S] -> the best borders, each within `near` steps of the rough one.

    Every state lasts a step or more, the states come in order, and the last ends with the sound."""
    length, count = scores.shape
    steps = np.arange(length)[:, None]
    first = np.concatenate([[0], rough[:-1]])
    scores = np.where((steps >= first - near) & (steps < rough + near), scores, -1e9)
    best = np.full(count, -1e12)
    best[0] = scores[0, 0]
    moved = np.zeros((length, count), bool)
    for t in range(1, length):
        came = np.concatenate([[-1e12], best[:-1]])
        moved[t] = came > best
        best = np.where(moved[t], came, best) + scores[t]
    borders, state = np.zeros(count, int), count - 1
    borders[state] = length
    for t in range(length - 1, 0, -1):
        if moved[t, state]:
            state -= 1
            borders[state] = t
    return borders if state == 0 else None


def rough_borders(phones, length):
    """Ends in seconds of the phones -> borders of their states in steps, each state a step or more."""
    ends = np.array([0.0, *(end for _, end in phones)]) * 1000 / STEP_MS
    ends[-1] = length
    even = np.concatenate([a + (b - a) * np.arange(1, STATES + 1) / STATES for a, b in zip(ends, ends[1:])])
    borders = np.round(even).astype(int)
    least = np.arange(1, len(borders) + 1)
    borders = np.maximum.accumulate(borders - least) + least  # later where states would be empty
    return np.minimum(borders, length - least[::-1] + 1)


def prepared(phones, analysis):
    return states([name for name, _ in phones]), observe(analysis), rough_borders(phones, len(analysis))


def learn(utterances):
    """utterances: (phones, analysis) -> Model"""
    data = [prepared(*u) for u in utterances]
    model, borders = None, [rough for *_, rough in data]
    for _ in range(ROUNDS):
        model = Model.learn([(keys, seen, b) for (keys, seen, _), b in zip(data, borders)])
        found = [path(model.scores(keys, seen), rough, NEAR / STEP_MS) for keys, seen, rough in data]
        borders = [f if f is not None else b for f, b in zip(found, borders)]
    return model


def times(model, phones, analysis):
    """-> phones with exact ends"""
    keys, seen, rough = prepared(phones, analysis)
    borders = path(model.scores(keys, seen), rough, NEAR / STEP_MS)
    borders = rough if borders is None else borders
    return [(name, float(b * STEP_MS / 1000)) for (name, _), b in zip(phones, borders[STATES - 1 :: STATES])]


def run():
    some = [(phones, analysis) for _, phones, analysis, _ in corpus.load(range(4))[:LEARNED]]
    model = learn(some)
    keys = sorted(model.mean)
    np.savez(
        config.work("align.npz"),
        keys=keys,
        mean=np.stack([model.mean[k] for k in keys]),
        variance=np.stack([model.variance[k] for k in keys]),
    )
    moved = [
        abs(a - b) * 1000
        for phones, analysis in some[:100]
        for (_, a), (_, b) in zip(phones[:-1], times(model, phones, analysis)[:-1])
    ]
    config.note("align", states=len(keys), moved_ms=round(float(np.mean(moved)), 1))


def load():
    z = np.load(config.work("align.npz"))
    return Model(dict(zip(z["keys"].tolist(), z["mean"])), dict(zip(z["keys"].tolist(), z["variance"])))


if __name__ == "__main__":
    run()
