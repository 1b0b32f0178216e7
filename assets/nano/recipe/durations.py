"""How long a phone lasts: the mean over the corpus for the phone between its neighbours.

The teacher's own lengths vary with stress and position, which cannot be foreseen from the phones alone; half-way to the
means (grid.OWN) the rhythm is a little more even and easier to learn.
"""

import collections
import json

from . import config
from .grid import SILENCE

PRIOR = 3.0  # a context with n examples weighs n / (n + PRIOR) against the wider context


def contexts(previous, name, following):
    return name, f"{name} {following}", f"{previous} {name} {following}"


def learn(utterances):
    """utterances: lists of (name, end seconds) -> {context: mean seconds, already smoothed}"""
    total, count = collections.Counter(), collections.Counter()
    for phones in utterances:
        for i in range(1, len(phones) - 1):
            name, end = phones[i]
            if name != SILENCE:
                for c in contexts(phones[i - 1][0], name, phones[i + 1][0]):
                    total[c] += end - phones[i - 1][1]
                    count[c] += 1
    mean = {}
    for c in sorted(total, key=lambda c: c.count(" ")):
        parts = c.split()
        wider = {1: None, 2: parts[0], 3: " ".join(parts[1:])}[len(parts)]
        n = count[c]
        mean[c] = total[c] / n if wider is None else (total[c] + PRIOR * mean[wider]) / (n + PRIOR)
    return mean


class Durations:
    def __init__(self, mean):
        self.mean = mean

    def seconds(self, previous, name, following):
        for c in reversed(contexts(previous, name, following)):
            if c in self.mean:
                return self.mean[c]
        return 0.1

    @classmethod
    def load(cls):
        return cls(json.loads(config.work("durations.json").read_text()))
