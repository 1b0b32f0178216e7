"""The machine that has the text and the files: hands out passes, speaks its share, puts all in order."""

from __future__ import annotations

import dataclasses
import itertools
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import GenerationError, ModelError, UsageError
from ..options import DEFAULT_BATCH, Options
from ..results import CANCELLED, AudioChunk, Stats
from ..synthesizer import Synthesizer
from ..text import estimate_seconds
from .rounds import Message, Rounds, TeamLost
from .same_model import fingerprint
from .shares import Shares
from .sounding import Sounding

if TYPE_CHECKING:
    from ..request.engine import Engine
    from ..request.passes import PlannedPass
    from ..voices import Voice

_GREETING = 600.0  # seconds for the others to load their models: some read them from a slow disk


class TeamSynthesizer:
    """Like the `Synthesizer` it is made of, but texts are spoken by all of the team. `standing` says who did how much.

    The codes are those of one machine: each pass has its own seed, and a text without a voice borrows that of its first
    pass, which is spoken first. A dialogue, whose turns need each other, is spoken by this one alone.
    """

    def __init__(self, tts: Synthesizer, rounds: Rounds, size: int):
        self._tts, self._rounds, self._size = tts, rounds, size
        self._shares: Shares | None = None
        self._jobs = itertools.count()  # a number for each text that is shared
        mine = fingerprint(tts.path)
        missing = set(range(1, size))
        deadline = time.monotonic() + _GREETING
        while missing:
            heard = rounds.hear(max(0.0, deadline - time.monotonic()))
            if heard is None:
                raise TeamLost(f"machine {min(missing)} did not load its model in {_GREETING:.0f} s")
            rank, message = heard
            if message["kind"] == "fault":
                raise GenerationError(f"machine {rank} of the team: {message['why']}")
            if message["kind"] == "ready":
                if message["model"] != mine:
                    raise ModelError(f"machine {rank} of the team has another model or s2mlx; give each the same")
                missing.discard(rank)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tts, name)

    @property
    def standing(self) -> str:
        """Passes that each has spoken, in the order of their ranks."""
        if self._shares is None:
            return ""
        return f"passes of {self._size} machines: {' + '.join(map(str, self._shares.counts))}"

    def stream(
        self,
        text: object,
        *,
        voice: Any = None,
        options: Options | None = None,
        cancel: threading.Event | None = None,
        lead: Callable[[], float] | None = None,
    ) -> Iterator[AudioChunk]:
        options = options or Options()
        if not isinstance(text, str) or lead is not None:
            raise UsageError("a team speaks a text that is all there, into a file: -f FILE -o FILE")
        if options.check:
            raise UsageError("a team cannot check what it says; leave --check out, or speak on one machine")
        seed = secrets.randbits(32) if options.seed is None else options.seed
        return self._speak(text, list(voice or []), options.replace(seed=seed), seed, cancel or threading.Event())

    def _speak(
        self, text: str, voices: list[Voice], options: Options, seed: int, cancel: threading.Event
    ) -> Iterator[AudioChunk]:
        passes, voices = self._call(lambda engine: (engine.plan(text), engine.fit(voices)), cancel)
        alone = lambda: self._tts.on_engine(
            lambda engine, going: engine.speak(_source(passes), voices, options, seed, going), cancel
        )
        if len(passes) == 1 or any(one.speaker is not None for one in passes):
            yield from alone()
            return
        count = _Count(len(passes), seed)
        if not voices:
            first: list[AudioChunk] = []
            for chunk in self._tts.on_engine(
                lambda engine, going: engine.speak(_source(passes[:1]), [], options, seed, going), cancel
            ):
                first.append(chunk)
                yield count.of(passes[0], chunk.codes, chunk.samples, chunk.finish_reason, chunk.sample_rate)
                if chunk.finish_reason == CANCELLED:
                    return
            codes = np.concatenate([chunk.codes for chunk in first], axis=1)
            voices = self._call(lambda engine: _borrowed(engine, passes[0].text, codes, passes[1:]), cancel)
            if not voices:  # each pass then needs the one before it
                for chunk in alone():
                    if chunk.part:
                        yield chunk
                return
            passes = passes[1:]
        yield from _Sharing(self, passes, voices, options, count, cancel).chunks()

    def _call(self, function: Callable[[Engine], Any], cancel: threading.Event) -> Any:
        for found in self._tts.on_engine(lambda engine, going: iter([function(engine)]), cancel):
            return found
        raise GenerationError("cancelled")


def _source(passes: list[PlannedPass]) -> Any:
    from ..request.pass_source import PassSource

    return PassSource(passes)


def _borrowed(engine: Engine, text: str, codes: np.ndarray, following: list[PlannedPass]) -> list[Voice]:
    from ..request.conversation import voice_of

    voice = voice_of(engine.model, text, codes, following) if codes.shape[1] else None
    return [] if voice is None else [voice]


class _Count:
    """Numbers chunks, and counts them for their figures."""

    def __init__(self, parts: int, seed: int):
        self._parts, self._seed, self._began = parts, seed, time.perf_counter()
        self._frames, self._seconds = 0, 0.0
        self._first: float | None = None

    def of(
        self, planned: PlannedPass, codes: np.ndarray, samples: np.ndarray, reason: str | None, rate: int
    ) -> AudioChunk:
        self._frames += codes.shape[1]
        self._seconds += len(samples) / rate
        elapsed = time.perf_counter() - self._began
        if self._first is None and len(samples):
            self._first = elapsed
        stats = Stats(self._seed, self._frames, self._seconds, elapsed, self._first)
        seed, words = planned.seed(self._seed), planned.text
        return AudioChunk(
            samples, rate, codes, planned.index, self._parts, planned.span, stats, reason, words, None, seed
        )


class _Sharing:
    """One text: who has what of it, and what comes back. Passes are numbered here by their place in the list."""

    def __init__(
        self,
        team: TeamSynthesizer,
        passes: list[PlannedPass],
        voices: list[Voice],
        options: Options,
        count: _Count,
        cancel: threading.Event,
    ):
        from ..request.assigned import AssignedPasses

        self._tts, self._rounds, self._passes, self._options = team._tts, team._rounds, passes, options
        self._count, self._cancel, self._voices, self._job = count, cancel, voices, next(team._jobs)
        self._place = {planned.index: place for place, planned in enumerate(passes)}
        depth = 1 + (options.batch or DEFAULT_BATCH)
        self._shares = team._shares = Shares([estimate_seconds(p.text) for p in passes], team._size, depth)
        self._own = AssignedPasses(count._parts)
        self._came: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._codes: dict[int, tuple[np.ndarray, str]] = {}  # done, and not given out

    def chunks(self) -> Iterator[AudioChunk]:
        self._rounds.say(
            kind="job",
            job=self._job,
            parts=self._count._parts,
            options=dataclasses.asdict(self._options),
            voices=[{"codes": v.codes, "transcript": v.transcript} for v in self._voices],
        )
        self._sounding = Sounding(self._tts, self._options, self._cancel)
        own = self._tts.on_engine(
            lambda engine, going: engine.speak(
                self._own, self._voices, self._options, self._options.seed or 0, going, silent=True
            ),
            self._cancel,
        )
        threading.Thread(target=self._read, args=(own,), name="s2mlx-team-own", daemon=True).start()
        try:
            for place, planned in enumerate(self._passes):
                self._hand_out()
                while place not in self._codes and not self._cancel.is_set():
                    self._take()
                for chunk in self._sound(planned, place):
                    yield chunk
                    if chunk.finish_reason == CANCELLED:
                        return
        finally:
            self._own.end()
            own.close()
            self._sounding.close()
            self._rounds.say(kind="end")

    def _hand_out(self) -> None:
        own, *others = self._shares.hand_out()
        self._own.add(self._passes[place] for place in own)
        for rank, places in enumerate(others, 1):
            if places:
                given = [dataclasses.asdict(self._passes[place]) for place in places]
                self._rounds.say(kind="passes", rank=rank, passes=given)

    def _take(self) -> None:
        """What came next, from this one or another; waits a moment for it."""
        try:
            kind, value = self._came.get_nowait()
        except queue.Empty:
            heard = self._rounds.hear(0.05)
            if heard is None:
                return
            rank, message = heard
            if message.get("job", self._job) != self._job:
                return  # late, of an earlier text
            if message["kind"] == "fault":
                raise GenerationError(f"machine {rank} of the team: {message['why']}") from None
            if message["kind"] == "codes":
                self._finished(rank, message["index"], message["codes"], message["reason"])
            return
        if kind == "fault":
            raise value
        if kind == "chunk" and value.finish_reason != CANCELLED:
            self._finished(0, value.part, value.codes, value.finish_reason)

    def _finished(self, rank: int, index: int, codes: np.ndarray, reason: str) -> None:
        place = self._place[index]
        self._shares.done(rank, place)
        self._codes[place] = codes, reason
        self._hand_out()

    def _sound(self, planned: PlannedPass, place: int) -> Iterator[AudioChunk]:
        """A pass that is done. From a cancel on there is its end alone, as from one machine: also amid its pieces."""
        make = lambda codes, samples, end: self._count.of(planned, codes, samples, end, self._tts.sample_rate)
        if not self._cancel.is_set():
            for codes, samples, end in self._sounding.of(planned, *self._codes.pop(place)):
                if self._cancel.is_set():
                    break
                yield make(codes, samples, end)
                if end:
                    return
        yield make(np.zeros((self._tts.num_codebooks, 0), np.int32), np.zeros(0, np.float32), CANCELLED)

    def _read(self, own: Iterator[AudioChunk]) -> None:
        try:
            for chunk in own:
                self._came.put(("chunk", chunk))
        except BaseException as fault:
            self._came.put(("fault", fault))


def passes_of(message: Message) -> list[PlannedPass]:
    from ..request.passes import PlannedPass

    return [PlannedPass(**{**one, "span": tuple(one["span"])}) for one in message["passes"]]
