"""The outline of a sound that may still grow, and its drawing in braille dots."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

BUCKET = 0.01  # seconds a stored peak stands for
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # [dot row][dot column] of a cell
BLOCKS = " ▁▂▃▄▅▆▇█"


class Envelope:
    """Peaks of |sample| per 10 ms."""

    def __init__(self, rate: int = 44100):
        self.rate = rate
        self.samples = 0
        self._peaks: np.ndarray | None = None  # float32, once there is sound
        self._bucket = max(1, round(rate * BUCKET))

    @property
    def seconds(self) -> float:
        return self.samples / self.rate

    def extend(self, samples: np.ndarray) -> None:
        """Add samples float32 [n]."""
        import numpy as np

        if not len(samples):
            return
        first = self.samples // self._bucket
        buckets = np.arange(self.samples, self.samples + len(samples)) // self._bucket - first
        starts = np.flatnonzero(np.diff(buckets, prepend=-1))
        fresh = np.maximum.reduceat(np.abs(samples), starts)
        peaks = np.zeros(1024, np.float32) if self._peaks is None else self._peaks
        while first + len(fresh) > len(peaks):
            peaks = np.concatenate([peaks, np.zeros_like(peaks)])
        self._peaks = peaks
        where = peaks[first : first + len(fresh)]
        np.maximum(where, np.nan_to_num(fresh), out=where)
        self.samples += len(samples)

    def columns(self, count: int, seconds: float, first: float = 0.0) -> np.ndarray:
        """float32 [count]: the peak of each of `count` equal parts of [first, first + seconds); NaN where no sound
        exists yet."""
        import numpy as np

        out = np.full(count, np.nan, np.float32)
        have = -(-self.samples // self._bucket)
        if self._peaks is None or seconds <= 0 or not count:
            return out
        edges = first / BUCKET + np.arange(count + 1) * (seconds / BUCKET / count)
        begin = edges[:-1].astype(int)
        end = np.maximum(edges[1:].astype(int), begin + 1)
        some = begin < have
        pairs = np.stack([begin[some], np.minimum(end[some], have)], axis=1).ravel()
        padded = np.append(self._peaks[:have], np.float32(0))
        out[some] = np.maximum.reduceat(padded, pairs)[::2]
        return out


def braille(peaks: np.ndarray, rows: int) -> list[str]:
    """Peaks float32 [2 * width] in 0..1 as `rows` lines of `width` characters, mirrored about the middle. NaN is empty.

    Height grows as peak ** 0.6: speech fills the rows, full scale alone touches the edge."""
    import numpy as np

    width = len(peaks) // 2
    if not width or rows <= 0:
        return [""] * max(rows, 0)
    height = np.minimum(np.nan_to_num(peaks[: 2 * width]), 1.0) ** 0.6 * (rows * 2)
    height = np.where(np.isnan(peaks[: 2 * width]), 0.0, np.maximum(height, 0.6))
    distance = np.abs(np.arange(rows * 4) - (rows * 4 - 1) / 2)
    lit = distance[:, None] < height[None, :]
    cells = lit.reshape(rows, 4, width, 2)
    codes = np.einsum("rdwc,dc->rw", cells.astype(np.uint32), np.array(_DOTS, np.uint32)) + 0x2800
    return ["".join(map(chr, row)) for row in codes]


def blocks(samples: np.ndarray, width: int) -> str:
    """A sound in one line of `width` block characters: the mean level of each part, scaled to the loudest."""
    import numpy as np

    if not len(samples) or width <= 0:
        return " " * max(width, 0)
    edges = np.linspace(0, len(samples), width + 1).astype(int)
    levels = np.nan_to_num([float(np.abs(samples[b : max(e, b + 1)]).mean()) for b, e in zip(edges[:-1], edges[1:])])
    top = float(levels.max()) or 1.0
    return "".join(BLOCKS[1 + int(round(7 * min(1.0, level / top)))] for level in levels)
