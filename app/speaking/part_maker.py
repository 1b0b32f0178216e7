"""Makes what is missing of a long text, on a job's thread; each part is on the disk as soon as it is there."""

from __future__ import annotations

import time
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

from s2mlx.errors import GenerationError, S2Error
from s2mlx.results import CANCELLED, AudioChunk, ended_at_once

from ..engine.live_first import LiveFirst
from ..engine.protocols import Studio
from ..engine.voice_shelf import VoiceShelf
from ..jobs import Job, JobCancelled
from ..state.reading import PartSound, Reading
from ..state.readings import Readings

if TYPE_CHECKING:
    import numpy as np

MOST_MUTE = 5  # parts without a sound; then it is no longer the words' fault
TRIES = 3  # seeds of a part that the model ends at once
REPORTS = 0.2  # seconds between words of how far it is


class PartListener(Protocol):
    """Who hears the parts while they are made."""

    def lead(self) -> float:
        """Seconds of sound that are not heard yet."""

    def hear(self, number: int, chunk: AudioChunk, last: bool) -> None:
        """More of a part, in order; `last`: it is whole, and kept."""

    def not_kept(self, error: Exception) -> None:
        """But this one is not: the disk may be full. It is heard all the same, and what follows."""


class PartMaker:
    """`part`: the number of the part under way; `waits`: somebody else is served before it; `mute`: parts that gave no
    sound."""

    def __init__(self, reading: Reading, readings: Readings, voices: VoiceShelf, studio: Studio):
        self.reading, self._readings, self._voices, self._studio = reading, readings, voices, studio
        self.part: int | None = None
        self.waits = False
        self.mute: list[int] = []
        self._unkept: set[int] = set()  # parts that were made and heard only
        self._news: deque[tuple[int, PartSound]] = deque()
        self._worked = 0.0  # seconds of work so far
        self._made = 0.0  # seconds of sound made by it, whole parts
        self._since: float | None = None  # when the work began that is not counted yet

    # how it goes: read on the interface thread

    def news(self) -> list[tuple[int, PartSound]]:
        """The parts that were made since this was asked."""
        return [self._news.popleft() for _ in range(len(self._news))]

    @property
    def pace(self) -> float | None:
        """Seconds of work for one of sound, None before the first part is there."""
        return self._worked / self._made if self._made else None

    @property
    def under_way(self) -> float:
        """Seconds of work since the last part was there."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    # the work

    def run(self, engine: LiveFirst, job: Job, ear: PartListener | None = None) -> bool:
        """Until nothing is missing. False: nothing was. What somebody hears goes first, all else behind. Raises
        S2Error, OSError, JobCancelled."""
        reading, seeds = self.reading, dict[int, int]()
        self._check(engine)
        mute = self.mute
        with ExitStack() as held:
            try:
                held.enter_context(self._readings.lock(reading))
            except TimeoutError:
                raise S2Error("another window of this app is making it") from None
            if not self._missing():
                return False
            voice = self._voice(engine, job)
            while missing := [number for number in self._missing() if number not in self._unkept.union(mute)]:
                texts = [(reading.words(n), seeds.get(n, reading.seed + n)) for n in missing]
                silent = self._some(engine, job, missing, texts, voice, ear)
                if job.cancel.is_set():
                    raise JobCancelled
                if silent is not None:
                    seeds[silent] = seeds.get(silent, reading.seed + silent) + len(reading.parts)
                    if seeds[silent] >= reading.seed + silent + TRIES * len(reading.parts):
                        mute.append(silent)
                        if len(mute) >= MOST_MUTE:
                            break
                voice = voice or self._voice(engine, job)
        if mute:
            several = ", ".join(str(number + 1) for number in mute)
            raise GenerationError(
                f"part {several} has no sound with {TRIES} seeds: {reading.words(mute[0])[:40]!r}; n says it anew"
            )
        return True

    def again(self, engine: LiveFirst, number: int, seed: int, job: Job) -> PartSound:
        """One part with this seed, at once."""
        reading = self.reading
        self._check(engine)
        options = reading.speech_options().replace(seed=seed)
        voice = self._voice(engine, job)
        part = _Part(1)
        for chunk in engine.stream(reading.words(number), voice=voice, options=options, cancel=job.cancel):
            part.add(chunk)
            job.report(None, f"{part.seconds:.1f} s")
        if job.cancel.is_set():
            raise JobCancelled
        if not part.frames:
            raise ended_at_once("try another seed")
        return self._keep(number, part, seed, voice is None, engine)

    def _check(self, engine: LiveFirst) -> None:
        """A text is made by one model."""
        name = self.reading.model_name
        if name and name != engine.name:
            raise S2Error(f"it was begun with {name}: load that model, or F6 cuts the text anew for {engine.name}")

    def _some(
        self,
        engine: LiveFirst,
        job: Job,
        missing: list[int],
        texts: list[tuple[str, int]],
        voice: Any,
        ear: PartListener | None,
    ) -> int | None:
        """As many as come before somebody else is to be served; the part that came to nothing, if there is one."""
        parts: dict[int, _Part] = {}
        whole: set[int] = set()
        reported = 0.0

        def waits() -> None:
            self.waits = True
            job.report(None, "")

        options, kept = self.reading.speech_options(), 0
        if ear is None:
            stream = engine.behind(texts, voice=voice, options=options, cancel=job.cancel, waits=waits)
        else:
            stream = engine.stream_each(
                texts, voice=voice, options=options, cancel=job.cancel, lead=ear.lead, follow=True
            )
        self._since = None
        try:
            for place, chunk in stream:
                if self._since is None:
                    self._since = time.monotonic() - chunk.stats.elapsed
                self.waits, number = False, missing[place]
                if place in whole:  # a check's word on what a listener could not wait for
                    if ear:
                        ear.hear(number, chunk, False)
                    continue
                part = parts.get(place)
                if part is None:
                    part = parts[place] = _Part(len(engine.plan(texts[place][0])))
                if number != self.part:
                    self.part, reported = number, 0.0
                part.add(chunk)
                if part.is_whole:
                    del parts[place]
                    whole.add(place)
                    if not part.frames:
                        return number
                    try:
                        self._keep(number, part, texts[place][1], voice is None, engine)
                    except (OSError, S2Error) as error:
                        if ear is None:
                            raise
                        self._unkept.add(number)
                        ear.not_kept(error)
                    kept += 1
                    reported = 0.0
                if ear:
                    ear.hear(number, chunk, place in whole)
                if time.monotonic() - reported > REPORTS:
                    reported = time.monotonic()
                    job.report(None, "")
        finally:
            stream.close()  # type: ignore[attr-defined]
            self._since = None
        if not (kept or job.cancel.is_set() or (ear is None and engine.stepped_aside)):
            raise GenerationError(f"the model gave no whole part behind part {missing[0]}")
        return None

    def _keep(self, number: int, part: _Part, seed: int, lends_voice: bool, engine: LiveFirst) -> PartSound:
        if lends_voice:  # before the part: where there are parts, there is their voice
            self._lend(number, part, engine)
        sound = self._readings.keep(self.reading, number, part.samples(), seed, part.frames, part.reason)
        if self._since is not None:
            now = time.monotonic()
            self._worked, self._since = self._worked + now - self._since, now
        self._made += part.seconds
        self._news.append((number, sound))
        return sound

    def _missing(self) -> list[int]:
        there = self._readings.sounds(self.reading)
        return [number for number in range(len(self.reading.parts)) if number not in there]

    def _voice(self, engine: LiveFirst, job: Job) -> Any:
        """Those of the speakers, or those that the first parts made have lent; None before these are there."""
        if self.reading.voices:
            return [self._voices.load(name, engine, job) for name in self.reading.voices]
        speakers = self.reading.speakers
        lent = {one: voice for one in speakers if (voice := self._lent(one, engine, job)) is not None}
        if len(lent) < len(speakers):
            return None
        return [lent.get(one, lent[speakers[0]]) for one in range(speakers[-1] + 1)]

    def _lend(self, number: int, part: _Part, engine: LiveFirst) -> None:
        """What is spoken first, by each speaker, lends its voice to what follows."""
        speaker = self.reading.speaker(number)
        if len(self.reading.parts) > 1 and self._readings.voice(self.reading, speaker) is None:
            self._readings.keep_voice(self.reading, part.voice(self.reading.bare_words(number), engine), speaker)

    def _lent(self, speaker: int, engine: LiveFirst, job: Job) -> Any:
        """What was lent; where that is gone, it is taken from the sound of a part that is there."""
        reading = self.reading
        kept = self._readings.voice(reading, speaker)
        if kept is not None or len(reading.parts) < 2:
            return kept
        for number, sound in self._readings.sounds(reading).items():
            if sound.take and reading.speaker(number) == speaker:
                clip = self._readings.samples(reading, sound.take), reading.rate
                voice = engine.clone(clip, reading.bare_words(number), cancel=job.cancel)
                if job.cancel.is_set():
                    raise JobCancelled
                self._readings.keep_voice(reading, voice, speaker)
                return voice
        return None


class _Part:
    """One part as it comes, in so many passes."""

    def __init__(self, passes: int):
        self.reason, self.frames = CANCELLED, 0
        self._passes, self._chunks = passes, list[AudioChunk]()

    def add(self, chunk: AudioChunk) -> None:
        self._chunks.append(chunk)
        self.frames += chunk.frames
        if chunk.finish_reason:
            self.reason = chunk.finish_reason
            self._passes -= 1

    @property
    def is_whole(self) -> bool:
        return self._passes <= 0 and self.reason != CANCELLED

    @property
    def seconds(self) -> float:
        return sum(len(chunk.samples) / chunk.sample_rate for chunk in self._chunks)

    def samples(self) -> np.ndarray:
        import numpy as np

        return np.concatenate([chunk.samples for chunk in self._chunks])

    def voice(self, words: str, engine: LiveFirst) -> Any:
        import numpy as np

        from s2mlx.voices import Voice

        codes = np.concatenate([chunk.codes for chunk in self._chunks], axis=1)
        return Voice(codes, words, engine.sample_rate, engine.config.codebook_size)
