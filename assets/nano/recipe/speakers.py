"""Who speaks, and how high: book 1 of the codec names a frame's pitch, its start phase and the speaker's size.

A speaker is a base pitch and a size (a factor on all resonances); an utterance's melody, in octaves around its own
middle, moves the base from frame to frame.
"""

from dataclasses import dataclass

import numpy as np

from .vocoder import FRAME, RATE, synthesize

PITCHES = np.arange(7, 29) / 2  # pulse periods a frame (vocoder.py): 75 to 301 Hz
PHASES = 2  # a frame starts on a pulse, or half a period after one
FORMANTS = (0.79, 0.87, 0.95, 1.05)  # sizes: below 1 a larger speaker than the teacher
COUNT = len(PITCHES) * PHASES * len(FORMANTS)
STEP = 1.5  # pulse periods by which neighbouring frames may differ
MIDDLE = 0.91  # sizes below sound like a large speaker, above like a small one
GAIN = 1.3
HERTZ = RATE / FRAME  # of one pulse a frame
LOWEST, HIGHEST = 88.0, 232.0  # base pitches that are trained


@dataclass(frozen=True)
class Speaker:
    hertz: float
    size: int  # index into FORMANTS

    @property
    def formant(self):
        return FORMANTS[self.size]


def index(pitch, phase, size):
    """Indices -> entry of book 1; arrays or numbers."""
    return (pitch * PHASES + phase) * len(FORMANTS) + size


def parts(entries):
    """Entries of book 1 -> indices of pitch, phase and size."""
    entries = np.asarray(entries) % COUNT
    return entries // (PHASES * len(FORMANTS)), entries // len(FORMANTS) % PHASES, entries % len(FORMANTS)


def entries(hertz, size):
    """A pitch in Hz for every frame -> entries of book 1 [F], each frame starting where the one before ended."""
    wanted = (np.asarray(hertz) / HERTZ).tolist()
    low, high, step = int(2 * PITCHES[0]), int(2 * PITCHES[-1]), int(2 * STEP)
    found, doubled, phase = np.zeros(len(wanted), np.int64), None, 0
    for i, periods in enumerate(wanted):
        now = round(2 * periods)
        if doubled is not None:
            now = min(max(now, doubled - step), doubled + step)
        doubled = min(max(now, low), high)
        found[i] = index(doubled - low, phase, size)
        phase = (phase + doubled) % PHASES
    return found


def spoken(melody, speaker):
    """The entries of a melody [F], in octaves around its middle, in a speaker's voice."""
    return entries(speaker.hertz * 2.0 ** np.asarray(melody), speaker.size)


def excitation(entries):
    """Entries of book 1 -> pulse periods [F], start phases [F], formant factor of the first (vocoder.synthesize)."""
    pitch, phase, size = parts(entries)
    return PITCHES[pitch], phase / PHASES, FORMANTS[size[0]]


def sound(features, entries):
    """The vocoder's sound of features and entries of book 1, as loud as the model speaks: [F * FRAME] in -1..1"""
    return np.clip(synthesize(features, *excitation(entries)) * GAIN, -1, 1)


def shifted(entries, steps, sizes=None):
    """Entries whose pitch is so many halves of a period off, and which end in the same phase: what a slip is like.

    steps: int [F]; sizes: other sizes [F]."""
    pitch, phase, size = parts(entries)
    moved = np.clip(pitch + steps, 0, len(PITCHES) - 1)
    return index(moved, (phase + moved - pitch) % PHASES, size if sizes is None else sizes)


def draw(rng):
    return Speaker(float(np.exp(rng.uniform(np.log(LOWEST), np.log(HIGHEST)))), int(rng.integers(len(FORMANTS))))


def heard(entries):
    """The speaker that frames of book 1 name: the middle of their pitches, and the size most of them have."""
    pitch, _, size = parts(entries)
    return Speaker(float(np.median(PITCHES[pitch]) * HERTZ), int(np.bincount(size, minlength=1).argmax()))


SHIPPED = {
    "clara": Speaker(183.0, 2),
    "nora": Speaker(218.0, 3),
    "marcus": Speaker(118.0, 1),
    "bruno": Speaker(97.0, 0),
    "robin": Speaker(150.0, 1),
}
DEFAULT = SHIPPED["clara"]  # who speaks when there is no reference


def draw_often_shipped(rng):
    """Every other time one of those that most people will hear."""
    return draw(rng) if rng.random() < 0.5 else list(SHIPPED.values())[rng.integers(len(SHIPPED))]
