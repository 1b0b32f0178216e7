"""Changing the sample rate, band-limited (soxr): a whole clip at once, or a stream piece by piece.

Knows numbers only; no files, no devices.
"""

from __future__ import annotations

import numpy as np


def resample(samples: np.ndarray, src: float, dst: float) -> np.ndarray:
    """float32 [n] at `src` Hz -> float32 [round(n * dst / src)] at `dst` Hz. The same rate gives the input back."""
    samples = np.ascontiguousarray(samples, dtype=np.float32)
    if src == dst or not len(samples):
        return samples
    import soxr

    return soxr.resample(samples, src, dst, quality="VHQ")


class StreamResampler:
    """The same for a stream: pushes of any sizes, joined, are the resampling of the joined input.

    quality: a soxr recipe; "HQ" holds back about 20 ms, "VHQ" about 40 ms, until `flush`.
    """

    def __init__(self, src: float, dst: float, quality: str = "HQ"):
        self._stream = None
        if src != dst:
            import soxr

            self._stream = soxr.ResampleStream(src, dst, 1, dtype="float32", quality=quality)

    def push(self, samples: np.ndarray) -> np.ndarray:
        """float32 [n] in; whatever is finished comes out (may be nothing)."""
        samples = np.ascontiguousarray(samples, dtype=np.float32)
        if self._stream is None or not len(samples):
            return samples
        return self._stream.resample_chunk(samples)

    def flush(self) -> np.ndarray:
        """The rest of the stream; afterwards the object is used up."""
        if self._stream is None:
            return np.zeros(0, np.float32)
        return self._stream.resample_chunk(np.zeros(0, np.float32), last=True)
