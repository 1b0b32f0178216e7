"""A pass that is held back until it was heard: its takes, and which of them goes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace

import numpy as np

from ..codec.codec import Codec
from ..networks.generate import Frame
from ..options import Options
from ..results import CANCELLED, LENGTH, Hearing
from .pass_sound import PassSound
from .passes import PlannedPass

# codes int32 [num_codebooks, frames], samples float32 [n], why the pass ended or None
Piece = tuple[np.ndarray, np.ndarray, str | None]
Hear = Callable[[str, np.ndarray, int], "Future[Hearing | None]"]


class SpokenTake:
    """One try at a pass: `add` its frames; `pieces` waits with what they became until it goes out."""

    def __init__(
        self, planned: PlannedPass, codec: Codec, options: Options, pause_after: Callable[[PlannedPass], bool]
    ):
        self.planned, self.began = planned, time.perf_counter()
        self.pieces: list[Piece] = []
        self.reason: str | None = None  # why it ended; None while it is being spoken
        self.hearing: Future[Hearing | None] | None = None
        self._as_made: list[np.ndarray] = []
        self._rate, self._runs_away = codec.config.sample_rate, options.max_frames is None
        self._sound: PassSound[Piece] | None = PassSound(
            planned, codec, options, None, lambda planned, *piece: piece, pause_after, self._as_made.append
        )

    def add(self, frame: Frame, hear: Hear) -> None:
        assert self._sound is not None
        self.pieces += self._sound.take(frame)
        if frame.codes is None:
            self.reason, self._sound = frame.finish_reason, None
            if self.reason != CANCELLED:
                samples = np.concatenate(self._as_made) if self._as_made else np.zeros(0, np.float32)
                self.hearing = hear(self.planned.text, samples, self._rate)
            self._as_made.clear()

    @property
    def was_heard(self) -> bool:
        return self.hearing is not None and self.hearing.done()

    def heard(self) -> Hearing | None:
        """Of a take that `was_heard`; None: not understood, the ear does not know its language. Raises what the ear
        has raised."""
        return self.hearing.result() if self.hearing is not None else None

    @property
    def ran_away(self) -> bool:
        """The limit that follows from its words, and not the model, has ended it."""
        return self.reason == LENGTH and self._runs_away

    @property
    def is_right(self) -> bool:
        hearing = self.heard()
        return (hearing is None or hearing.right) and not self.ran_away

    def faults(self) -> tuple[bool, bool, float]:
        """The less, the better: of a take that `was_heard`."""
        hearing = self.heard()
        if hearing is None:
            return self.ran_away, False, 0.0
        return self.ran_away, not hearing.right, hearing.word_error_rate


class CheckedPass:
    """A pass and its takes, at most so many.

    `going` is the take that goes out: the first that is right, or the best when there may be no more; or, as soon as
    `let_go` is called for a listener who cannot wait, the best there is.
    """

    def __init__(self, planned: PlannedPass, most: int):
        self.planned, self.most = planned, most
        self.takes: list[SpokenTake] = []
        self.going: SpokenTake | None = None

    def begin(self, codec: Codec, options: Options, pause_after: Callable[[PlannedPass], bool]) -> SpokenTake:
        """The next take; the arguments are those of `PassSound`."""
        self.takes.append(SpokenTake(replace(self.planned, take=len(self.takes)), codec, options, pause_after))
        return self.takes[-1]

    def look(self) -> bool:
        """Settle it if what was heard so far does; whether another take is to be spoken."""
        if self.going is not None or not self.takes or not self.takes[-1].was_heard:
            return False
        if self.takes[-1].is_right:
            self.going = self.takes[-1]
        elif len(self.takes) >= self.most:
            self.going = self._best()
        return self.going is None

    def let_go(self) -> None:
        """The listener comes to this pass now: what there is of it goes out, and stays."""
        if self.going is None and self.takes:
            self.going = self._best()

    @property
    def is_out(self) -> bool:
        """All of it went out."""
        return self.going is not None and self.going.reason is not None and not self.going.pieces

    @property
    def was_heard(self) -> bool:
        """Of the take that goes out."""
        return self.going is not None and self.going.was_heard

    def hearing(self) -> Hearing | None:
        """What was heard of the take that goes out; None as long as that is not known."""
        if self.going is None or not self.going.was_heard:
            return None
        found = self.going.heard()
        return None if found is None else replace(found, takes=len(self.takes))

    def _best(self) -> SpokenTake:
        """A take that was heard, before one that was not yet."""
        return min((take for take in self.takes if take.was_heard), key=SpokenTake.faults, default=self.takes[-1])

    def pieces(self) -> Iterator[Piece]:
        """What there is now of the take that goes out and was not taken yet."""
        while self.going is not None and self.going.pieces:
            yield self.going.pieces.pop(0)
