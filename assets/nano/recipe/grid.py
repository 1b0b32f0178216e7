"""Speech on the frame grid: every phone lasts a whole number of frames, so the same phone always falls the same way."""

import numpy as np

from . import teacher
from .vocoder import FRAME, KNOTS, RATE

FRAME_SECONDS = FRAME / RATE
MAX_FRAMES = 5
LEAD, PAUSE, TAIL = 2, 4, 3  # frames of silence before, inside and after an utterance
SILENCE = "pau"
OWN = 0.5


def frames_of(name, seconds, place, count, tempo):
    """How many frames a phone of that natural length gets."""
    if name == SILENCE:
        return LEAD if place == 0 else TAIL if place == count - 1 else PAUSE
    return int(np.clip(round(seconds * tempo / FRAME_SECONDS), 1, MAX_FRAMES))


def lay(phones, analysis, melody, tempo=1.0, durations=None, own=OWN):
    """phones [(name, end seconds)], analysis [T, D], melody [T] -> names, lengths in frames, features [sum of lengths,
    KNOTS, D], melody [sum of lengths].

    durations: the usual lengths (durations.Durations), of which the speech's own differ by `own` of what they did.
    """
    given = np.concatenate([analysis, melody[: len(analysis), None]], 1)
    mean = np.concatenate([np.zeros((1, given.shape[1])), np.cumsum(given, 0)])
    names, lengths, parts = [], [], []
    start = 0.0
    for place, (name, end) in enumerate(phones):
        seconds = end - start
        if durations is not None and name != SILENCE:
            usual = durations.seconds(phones[place - 1][0], name, phones[place + 1][0])
            seconds = usual + own * (seconds - usual)
        n = frames_of(name, seconds, place, len(phones), tempo)
        edges = np.linspace(start, end, n * KNOTS + 1) * 1000 / teacher.STEP_MS + 0.5
        edges = np.clip(edges, 0, len(given))
        low = np.minimum(edges.astype(int), len(given) - 1)
        total = mean[low] + (edges - low)[:, None] * given[low]  # integral of what is given up to each edge
        width = np.maximum(np.diff(edges), 1e-6)[:, None]
        inside = np.diff(total, axis=0) / width
        empty = np.diff(edges) < 1e-3
        inside[empty] = given[low[:-1][empty]]
        names.append(name)
        lengths.append(n)
        parts.append(inside.reshape(n, KNOTS, -1))
        start = end
    laid = np.concatenate(parts).astype(np.float32)
    return names, lengths, laid[..., :-1], laid[..., -1].mean(1)
