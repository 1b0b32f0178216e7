"""The frames of one pass on their way to sound: they wait until a piece is worth a decode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import numpy as np

from ..audio.stretch import TimeStretch
from ..codec.codec import Codec
from ..networks.generate import Frame
from ..options import Options
from ..results import CANCELLED
from .passes import PlannedPass
from .schedule import Schedule, largest_piece

Piece = TypeVar("Piece")
# (pass, codes int32 [num_codebooks, frames], samples float32 [n], why it ended or None) -> what is given out
MakePiece = Callable[[PlannedPass, np.ndarray, np.ndarray, str | None], Piece]


class PassSound(Generic[Piece]):
    """lead: seconds of sound the listener still has, see `Schedule`. chunk: numbers and counts what is given out.
    pause_after: asked when the pass has ended, whether a pause follows. made: is told the samples float32 [n] as the
    model makes them, at its own speed and without pauses."""

    def __init__(
        self,
        planned: PlannedPass,
        codec: Codec,
        options: Options,
        lead: Callable[[], float] | None,
        chunk: MakePiece[Piece],
        pause_after: Callable[[PlannedPass], bool],
        made: Callable[[np.ndarray], object] = lambda samples: None,
    ):
        sizes = codec.config
        self._planned, self._chunk, self._made, self._books = planned, chunk, made, sizes.num_codebooks
        self._stream, self._schedule = codec.stream(), Schedule(sizes.frame_samples / sizes.sample_rate, lead)
        self._stretch = TimeStretch(options.rate, sizes.sample_rate)
        self._pause, self._pause_after = sizes.sample_rate * options.pause_ms // 1000, pause_after
        self._waiting: list[np.ndarray] = []

    def take(self, frame: Frame) -> Iterator[Piece]:
        """The next frame of the pass, or its end; what sounds now comes out."""
        if frame.codes is None:
            assert frame.finish_reason is not None
            yield self.last(frame.finish_reason)
            return
        self._waiting.append(frame.codes)
        while frames := self._schedule.take(len(self._waiting)):
            piece = self._first(frames)
            yield self._chunk(self._planned, piece, self._decode(piece), None)

    def last(self, reason: str) -> Piece:
        """The end of the pass. Who cancels does not wait for a decode: frames that are no sound yet are dropped."""
        if reason == CANCELLED:
            self._waiting.clear()
        codes, samples = [self._first(0)], [np.zeros(0, np.float32)]
        while self._waiting:
            codes.append(self._first(largest_piece(len(self._waiting))))
            samples.append(self._decode(codes[-1]))
        if reason != CANCELLED:
            samples.append(self._stretch.finish())
            if self._pause_after(self._planned):
                samples.append(np.zeros(self._pause, np.float32))
        return self._chunk(self._planned, np.concatenate(codes, axis=1), np.concatenate(samples), reason)

    def _decode(self, codes: np.ndarray) -> np.ndarray:
        samples = self._stream.decode(codes)
        self._made(samples)
        return self._stretch.add(samples)

    def _first(self, frames: int) -> np.ndarray:
        codes, self._waiting = self._waiting[:frames], self._waiting[frames:]
        return np.stack(codes, axis=1) if codes else np.zeros((self._books, 0), np.int32)
