"""How the pitch of an utterance moves: octaves around its own middle, smooth, and through what has no voice."""

import numpy as np
from scipy.ndimage import median_filter, uniform_filter1d

RANGE = 0.75  # of the teacher's movement, which is that of an actress
MOST = 0.5  # octaves
SPIKES, SMOOTH = 9, 7  # steps of the filters


def melody(pitch):
    """pitch [T] in Hz, 0 where there is no voice -> float32 [T]"""
    pitch = np.asarray(pitch, np.float32)
    voiced = np.flatnonzero(pitch > 0)
    if len(voiced) < 3:
        return np.zeros(len(pitch), np.float32)
    octaves = median_filter(np.log2(pitch[voiced]), SPIKES, mode="nearest")
    octaves = np.interp(np.arange(len(pitch)), voiced, octaves - np.median(octaves))
    return np.clip(RANGE * uniform_filter1d(octaves, SMOOTH, mode="nearest"), -MOST, MOST).astype(np.float32)
