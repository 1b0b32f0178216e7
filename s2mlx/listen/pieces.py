"""A long recording in pieces that a recognizer can take at once, cut where it is most quiet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

LONGEST, SEEK = 40.0, 12.0  # s: a piece, and how far back from its end a quiet place is looked for
_FRAME = 0.1


def pieces(samples: np.ndarray, rate: int) -> Iterator[tuple[int, np.ndarray]]:
    """float32 [n] -> (first sample, samples) of each piece, at most `LONGEST` seconds; joined they are the whole."""
    longest, frame, at = round(LONGEST * rate), round(_FRAME * rate), 0
    while len(samples) - at > longest:
        tail = samples[at + longest - round(SEEK * rate) : at + longest]
        frames = tail[: len(tail) // frame * frame].reshape(-1, frame)
        quiet = int(np.argmin(np.square(frames, dtype=np.float64).mean(axis=1)))
        cut = at + longest - round(SEEK * rate) + quiet * frame + frame // 2
        yield at, samples[at:cut]
        at = cut
    if at < len(samples):
        yield at, samples[at:]
