"""A long text heard while its parts are made: what there is of it sounds, what is missing is made and kept."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.message import Message

from s2mlx.errors import GenerationError
from s2mlx.results import CANCELLED, STOP, AudioChunk, Stats

from ..engine.protocols import SoundOutput, SpeechEngine, Studio
from ..jobs import Job, JobCancelled
from .live_utterance import LiveUtterance
from .spoken_audio import Script, SpokenAudio

if TYPE_CHECKING:
    import numpy as np

    from ..engine.live_first import LiveFirst
    from ..state.reading import PartSound, Reading
    from .part_maker import PartMaker
    from .reading_desk import ReadingDesk

LONG = 90.0  # seconds; a text that takes longer is spoken in parts that are kept
HELD = 60.0  # seconds; a slow model has sound held back as for a text of this length, not half of a book
MOST_LEAD = 600.0  # seconds of sound that are not heard yet; then no more is read from the disk


def is_long(studio: Studio, script: Script) -> bool:
    """At once, also of a book."""
    most = 60 * LONG  # characters: no text is spoken so fast
    return len(script.text) > most or studio.estimate_seconds(script.text) / script.options.rate > LONG


class ReadingMoved(Message):
    """Its parts are known, there is one more of them, or it has ended."""

    def __init__(self, utterance: LiveReading):
        super().__init__()
        self.utterance = utterance


class LiveReading(LiveUtterance):
    """`reading` and its `maker` are there with the first message. `begun_only`: a text that the desk does not know is
    spoken as one utterance."""

    reading: Reading | None = None
    maker: PartMaker | None = None
    unkept: Exception | None = None  # why its parts, or one of them, could not be kept: it is heard all the same

    def __init__(
        self,
        desk: ReadingDesk,
        studio: Studio,
        engine: LiveFirst,
        script: Script,
        load_voice: Callable[[str, SpeechEngine, Job], Any],
        open_output: Callable[[], SoundOutput],
        post: Callable[[Message], Any],
        begun_only: bool = False,
    ):
        super().__init__(studio, engine, script, load_voice, open_output, post)
        self._desk, self._first, self._begun_only = desk, engine, begun_only
        self._begins: list[float] = []  # seconds at which the parts begin that are there
        self._numbers: list[int] = []  # which these are
        self._given = 0  # samples so far
        self._next = 0  # the part that follows what was given out
        self._there: dict[int, PartSound] = {}  # what was there before
        self._stats, self._frames = Stats(), 0  # of the making; frames of all that was given out
        self._made_some = False

    def part_at(self, position: float) -> int:
        """The part that is heard at `position` seconds."""
        where = bisect_right(self._begins, position) - 1
        return self._numbers[where] if where >= 0 else 0

    def run(self, job: Job) -> SpokenAudio:
        try:
            return super().run(job)
        finally:
            if self.reading and self.maker:
                self._desk.let_go(self.reading, self.maker)
                self._post(ReadingMoved(self))

    def _make(self, job: Job) -> SpokenAudio:
        reading = self._begun(job)
        if reading is None:
            return super()._make(job)
        self.reading = reading
        self.maker = maker = self._desk.take_over(reading, job)
        self.script = replace(self.script, text=reading.text)
        self._audio.script = self.script
        self._begin()
        self._expected = min(self._expected, HELD)
        self._audio.when = time.strftime("%Y-%m-%dT%H:%M:%S")
        self._post(ReadingMoved(self))
        self._there = self._desk.readings.sounds(reading)
        self._try(self._open)
        mute = None
        try:
            if len(self._there) < len(reading.parts):
                mute = self._make_the_others(maker, job)
            self._give_what_is_there(len(reading.parts), job)
        except JobCancelled:
            pass
        if mute:
            raise mute
        self._audio.finish_reason = CANCELLED if job.cancel.is_set() else STOP
        whole = not (job.cancel.is_set() or self.unkept)
        if self._made_some and whole:
            self._desk.remember(reading, self._desk.readings.sounds(reading))
        self.remembered = whole or not self._made_some
        return self._audio

    def _make_the_others(self, maker: PartMaker, job: Job) -> GenerationError | None:
        """What is missing, which `hear` gets. Why parts stayed mute, if only these did."""
        try:
            maker.run(self._first, job, self)
        except GenerationError as error:
            if not maker.mute:
                raise
            return error
        return None

    def _begun(self, job: Job) -> Reading | None:
        """The one that there is of the script, or else a new one, if it may be. Without it the text is heard too."""
        from .part_plan import planned, words_and_chapters

        words, chapters = words_and_chapters(self.script.text)
        found = self._desk.find(words, self.script, self.engine)
        if found or self._begun_only:
            return found
        script = self.script
        new = planned(words, script.names, script.options, self.engine, chapters, given=script.text)
        if job.cancel.is_set():
            raise JobCancelled
        try:
            return self._desk.readings.add(new)
        except OSError as error:
            self.not_kept(error)
            return None

    # what comes of it, on the job's thread

    def lead(self) -> float:
        return self._lead()

    def hear(self, number: int, chunk: AudioChunk, last: bool) -> None:
        assert self.reading is not None and self.job is not None
        self._give_what_is_there(number, self.job)
        self._made_some = True
        samples, self._stats = chunk.samples, chunk.stats
        self._frames += chunk.frames
        reason = chunk.finish_reason if last or chunk.finish_reason == CANCELLED else None
        self._give(number, replace(chunk, samples=self._with_pause(number, samples) if last else samples), reason)
        if last:
            self._next = number + 1
            self._post(ReadingMoved(self))

    def not_kept(self, error: Exception) -> None:
        if self.unkept is None:
            self.unkept = error
            self._post(ReadingMoved(self))

    def _give_what_is_there(self, end: int, job: Job) -> None:
        """The parts before `end` that were there before."""
        import numpy as np

        reading = self.reading
        assert reading is not None
        for number in range(self._next, end):
            self._next = number + 1
            sound = self._there.get(number)
            if sound is None or sound.take is None:
                continue
            while self._lead() > MOST_LEAD and self.output and not job.cancel.is_set():
                time.sleep(0.05)
            if job.cancel.is_set():
                raise JobCancelled
            samples = self._desk.readings.samples(reading, sound.take)
            self._frames += sound.take.frames
            no_codes = np.zeros((0, 0), np.int32)
            whole = self._with_pause(number, samples)
            chunk = AudioChunk(
                whole, reading.rate, no_codes, number, 0, (0, 0), self._stats, None, reading.words(number)
            )
            self._give(number, chunk, sound.take.reason)

    def _give(self, number: int, chunk: AudioChunk, reason: str | None) -> None:
        reading = self.reading
        assert reading is not None
        if not self._numbers or self._numbers[-1] != number:
            self._begins.append(self._given / reading.rate)
            self._numbers.append(number)
        self._given += len(chunk.samples)
        part = reading.parts[number]
        stats = replace(self._stats, seed=reading.seed, frames=self._frames)
        self._take(
            replace(
                chunk,
                part=number,
                parts=len(reading.parts),
                span=(part.begin, part.end),
                stats=stats,
                finish_reason=reason,
            )
        )

    def _with_pause(self, number: int, samples: np.ndarray) -> np.ndarray:
        import numpy as np

        reading = self.reading
        assert reading is not None
        if not reading.parts[number].pause_after or number + 1 == len(reading.parts):
            return samples
        return np.append(samples, np.zeros(reading.rate * reading.speech_options().pause_ms // 1000, np.float32))
