"""A request whose passes are heard before they go out; one with wrong words is spoken again.

A pass is held back until the ear has heard it, while the model speaks on: where passes do not need each other, the next
ones; in a dialogue, and while the first pass lends the others its voice, it waits for the ear. Each take has a seed of
its own, the first that of a request without a check: what is right at once sounds the same with and without.

A listener never waits for a check once there is sound: a pass that comes to its turn goes out as it is, while it is
being spoken if need be. What was heard of it is told later.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from ..networks.generate import Generation
from ..networks.generate_batch import generate_batch
from ..results import CANCELLED, AudioChunk, Hearing
from ..worker import POLL, Aside
from .listener import Judge, Listener
from .passes import PlannedPass
from .run import RequestRun
from .takes import CheckedPass, SpokenTake

PATIENCE = 5.0  # seconds that the first sound waits for a take and the ear
RESERVE = 1.0  # seconds of sound that a listener keeps
MOST_BEGUN = 12  # passes that were begun and are not out: an ear may be slower than the model


class CheckedRun(RequestRun):
    """As `RequestRun`, with an ear. open_judge(): see `Listener`."""

    def __init__(self, *args: Any, open_judge: Callable[[], Judge], **more: Any):
        super().__init__(*args, **more)
        sampling = self._sampling()
        always_the_same = sampling.temperature == 0 or sampling.top_k == 1
        self._most = 1 if always_the_same else self.options.takes
        self._listener = Listener(open_judge)
        self._late: list[CheckedPass] = []  # gone out before they were heard
        self._lasts_until = 0.0  # when the sound that went out ends at the earliest
        self._cancel_told = False

    def chunks(self) -> Iterator[AudioChunk | Aside]:
        try:
            yield from super().chunks()
            while self._late and self._wanted():
                yield from self._told_late()
                self._listener.wait(POLL)
        finally:
            self._listener.close()

    def chunk(
        self,
        planned: PlannedPass,
        codes: np.ndarray,
        samples: np.ndarray,
        reason: str | None,
        heard: Hearing | None = None,
    ) -> AudioChunk:
        seconds = len(samples) / self.codec.config.sample_rate
        self._lasts_until = max(self._lasts_until, time.perf_counter()) + seconds
        self._cancel_told |= reason == CANCELLED
        return super().chunk(planned, codes, samples, reason, heard)

    def _at_once(self) -> bool:
        """Also one at a time: the next is spoken while the ear is at the one before."""
        return len(self.source.known) > 1

    def _alone(self, planned: PlannedPass) -> Iterator[AudioChunk]:
        one = CheckedPass(planned, self._most)
        again = True
        while again:
            take = self._take(one)
            for frame in self._frames(take.planned):
                take.add(frame, self._listener.hear)
                yield from self._going_out(one)
                if one.going not in (None, take):
                    break  # a listener had to have an earlier one
            while not (again := one.look()) and one.going is None:
                if take.reason == CANCELLED or not self._wanted():
                    yield self._cancelled(planned)
                    return
                self._listener.wait(POLL)
                self._hurry(one)
            yield from self._going_out(one)

    def _together(self) -> Generator[AudioChunk, None, bool]:
        began = time.perf_counter()
        known = self.source.known
        first = known[0]
        prompt, limit = self.conversation.prompt(first)
        prefix = self._prefix(prompt)
        self.prefill_seconds += time.perf_counter() - began
        if prefix is None:
            yield self._cancelled(first)
            return False
        line: deque[CheckedPass] = deque()  # begun, in the order in which they go out
        begun: list[tuple[CheckedPass, SpokenTake]] = []

        def more() -> bool:
            """Is there a pass that may begin? Of what is a dialogue after all, each turn waits for the one before."""
            self.source.look()
            return bool(known) and not self.source.dialogue and len(line) < MOST_BEGUN

        def requests() -> Iterator[Generation]:
            """What is to be spoken again goes before what was not spoken yet."""
            while (one := next((one for one in line if one.look()), None)) or more():
                if one is None:
                    one = CheckedPass(known.popleft(), self._most)
                    line.append(one)
                take = self._take(one)
                begun.append((one, take))
                own = (prompt, limit) if one.planned is first else self.conversation.prompt(one.planned)
                yield self._request(take.planned, *own, prompt.reference_end)

        while line or more():
            begun.clear()
            for number, frame in generate_batch(
                self.model.dual_ar,
                requests(),
                self._sampling(),
                cache=prefix.extend,
                width=self.width,
                keep_going=self.keep_going,
            ):
                one, take = begun[number]
                if one.going in (None, take):  # else a listener had to have an earlier one, and nobody wants this
                    take.add(frame, self._listener.hear)
                yield from self._in_order(line)
            while line and not any(one.look() for one in line) and not more():  # until there is something to speak
                if not self._wanted():
                    break
                yield from self._in_order(line)
                self._listener.wait(POLL)
            if not self._wanted() and (line or known):
                yield from self._broken_off([*line, *(CheckedPass(planned, 1) for planned in list(known)[:1])])
                return False
        return True

    def _in_order(self, line: deque[CheckedPass]) -> Iterator[AudioChunk]:
        """What may go out now of the passes that were begun."""
        while line and not self._cancel_told:
            line[0].look()
            yield from self._going_out(line[0])
            if not line[0].is_out:
                return
            line.popleft()

    def _going_out(self, one: CheckedPass) -> Iterator[AudioChunk]:
        self._hurry(one)
        for codes, samples, reason in one.pieces():
            heard = one.hearing() if reason else None
            yield self.chunk(one.planned, codes, samples, reason, heard)
            if reason not in (None, CANCELLED) and not one.was_heard:
                self._late.append(one)
        yield from self._told_late()

    def _told_late(self) -> Iterator[AudioChunk]:
        for one in [one for one in self._late if one.was_heard]:
            self._late.remove(one)
            if heard := one.hearing():
                yield self.chunk(one.planned, *self._nothing(), None, heard)

    def _hurry(self, one: CheckedPass) -> None:
        """Let go of a pass that a listener would have to wait for."""
        if self.lead is None or one.going is not None or not one.takes:
            return
        if self.first_audio is None:
            waits = time.perf_counter() - one.takes[-1].began > PATIENCE
        else:  # what went out may be on its way to the listener
            waits = max(self.lead(), self._lasts_until - time.perf_counter()) < RESERVE
        if waits:
            one.let_go()

    def _broken_off(self, line: list[CheckedPass]) -> Iterator[AudioChunk]:
        """After a cancel: the pass whose turn it was ends so; those behind it that are settled are kept, unless by a
        listener, who has no use for them."""
        if not self._cancel_told:
            yield self._cancelled(line.pop(0).planned)
        for one in line if self.lead is None else ():
            if not one.look() and one.going is not None:
                yield from self._going_out(one)

    def _take(self, one: CheckedPass) -> SpokenTake:
        return one.begin(self.codec, self.options, self.source.pause_after)

    def _cancelled(self, planned: PlannedPass) -> AudioChunk:
        return self.chunk(planned, *self._nothing(), CANCELLED)

    def _nothing(self) -> tuple[np.ndarray, np.ndarray]:
        """No codes, no samples."""
        return np.zeros((self.codec.config.num_codebooks, 0), np.int32), np.zeros(0, np.float32)
