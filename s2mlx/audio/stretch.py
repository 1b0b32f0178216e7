"""Speech faster or slower at the same pitch, piece by piece."""

from __future__ import annotations

from typing import Any

import numpy as np

# A frame holds two periods of a low voice, the tolerance half of one, and what both need of the sound ahead fits into
# the model's first frame of 46 ms: the first piece is heard as soon as without a stretch.
_FRAME, _TOLERANCE = 0.018, 0.007  # seconds


class TimeStretch:
    """Takes pieces of one stretch of sound, gives them back `rate` times as fast. Pieces of any size give the samples
    of one call. WSOLA (Verhelst and Roelands 1993) by the library audiotsm; at rate 1 every piece is handed back as it
    is.
    """

    def __init__(self, rate: float, sample_rate: int):
        """rate: 0.5 to 2, above 1 is faster. sample_rate: Hz."""
        self.rate = rate
        self._taken = self._given = 0
        self._frame = round(_FRAME * sample_rate) // 2 * 2
        self._tsm: Any = None  # audiotsm's, which has no types
        if rate != 1:
            from audiotsm import wsola

            self._tsm = wsola(1, speed=rate, frame_length=self._frame, tolerance=round(_TOLERANCE * sample_rate))

    def add(self, samples: np.ndarray) -> np.ndarray:
        """What can be said so far of float32 [n]: float32 [m], m may be 0."""
        if self._tsm is None:
            return samples
        self._taken += len(samples)
        return self._count(self._through(samples))

    def finish(self) -> np.ndarray:
        """The rest, float32 [m]; the whole is then `rate` times shorter, to the sample."""
        if self._tsm is None or not self._taken:
            return np.zeros(0, np.float32)
        missing = round(self._taken / self.rate) - self._given
        # silence behind the end pushes the last words out
        pieces, got = [], 0
        while got < missing:
            pieces.append(self._through(np.zeros(2 * self._frame, np.float32)))
            got += len(pieces[-1])
        return self._count(np.concatenate(pieces)[:missing]) if pieces else np.zeros(0, np.float32)

    def _through(self, samples: np.ndarray) -> np.ndarray:
        from audiotsm.io.array import ArrayReader, ArrayWriter

        reader, writer = ArrayReader(np.asarray(samples, np.float32)[None]), ArrayWriter(1)
        while not reader.empty:
            self._tsm.read_from(reader)
            self._tsm.write_to(writer)
        while self._tsm.write_to(writer)[0]:
            pass
        return writer.data[0].astype(np.float32, copy=False)

    def _count(self, samples: np.ndarray) -> np.ndarray:
        self._given += len(samples)
        return samples
