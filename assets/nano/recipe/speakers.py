"""The voices: every pair of a pitch class (pulses per frame) and a formant factor; book 1 of the codec names them."""

from .vocoder import FRAME, RATE

PITCHES = (4, 6, 8, 10)  # pulses fall on few places of a frame; odd counts are far harder to learn
FORMANTS = (0.9, 1.0, 1.1, 1.2)
COUNT = len(PITCHES) * len(FORMANTS)
MIDDLE = 1.05  # formant factors below sound like a large speaker, above like a small one
GAIN = 1.3


def pair(index):
    """speaker index -> (pulses per frame, formant factor)"""
    return PITCHES[index // len(FORMANTS)], FORMANTS[index % len(FORMANTS)]


def index(pitch, formant):
    return PITCHES.index(pitch) * len(FORMANTS) + FORMANTS.index(formant)


def hertz(pitch):
    return pitch * RATE / FRAME


DEFAULT = index(8, 1.1)  # who speaks when there is no reference
SHIPPED = {
    "clara": index(8, 1.1),
    "nora": index(10, 1.2),
    "marcus": index(6, 1.0),
    "bruno": index(4, 0.9),
    "robin": index(6, 1.1),
}
