"""Long texts made in parts, one after the other, behind whatever somebody waits for. All but the work itself happens on
the interface thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from s2mlx.options import Options

from ..engine.loader import EngineLoader
from ..engine.protocols import Studio
from ..engine.voice_shelf import VoiceShelf
from ..jobs import Job, JobCancelled, Jobs
from ..state.reading import PartSound, Reading, title_of
from ..state.readings import Readings
from .part_maker import PartMaker
from .part_plan import planned

Sounds = dict[int, PartSound]


@dataclass(frozen=True)
class Estimate:
    """Seconds: of sound that there is, of the whole as it will be, and of time until then, None while nobody knows."""

    made: float
    whole: float
    left: float | None


class ReadingDesk:
    """`watchers` are called whenever something moves; `finished(reading, sounds)` when all of one is there, on a job's
    thread; `complain(error)` when one cannot go on."""

    def __init__(
        self,
        readings: Readings,
        studio: Studio,
        jobs: Jobs,
        loader: EngineLoader,
        voices: VoiceShelf,
        finished: Callable[[Reading, Sounds, Job], str],
        tell: Callable[[str], None],
        explain: Callable[[BaseException], str],
    ):
        self.readings, self._studio, self._jobs, self._loader, self._voices = readings, studio, jobs, loader, voices
        self._finished, self._tell, self._explain = finished, tell, explain
        self.watchers: list[Callable[[], None]] = []
        self.current: Reading | None = None  # the one that is being made
        self.maker: PartMaker | None = None  # its work
        self.queue: list[Reading] = []  # all that there are, as they are on the disk
        self.sounds: dict[str, Sounds] = {}  # of those that were looked into, by id
        self.made: dict[str, int] = {}  # how many parts there are of each
        self._job: Job | None = None
        self._going = False  # the queue, which waits to be asked after a start
        self._asked: set[str] = set()  # ids since the start: they come before those that an earlier run has left
        self._writing = threading.Lock()
        self._late: dict[str, Sounds] = {}  # parts that came while the others were being read
        self._expected: dict[str, list[float]] = {}  # seconds of each part by its words

    # what there is

    def load(self, then: Callable[[], None] = lambda: None) -> None:
        """Read the disk."""

        def read(job: Job) -> tuple[list[Reading], dict[str, int]]:
            found = self.readings.all()
            return found, {one.id: self.readings.made(one) for one in found}

        before = {one.id for one in self.queue}

        def done(found: tuple[list[Reading], dict[str, int]]) -> None:
            known = {one.id: one for one in self.queue}  # as it is by now: the disk may follow later
            new = [one for one in self.queue if one.id not in before.union(one.id for one in found[0])]
            self.queue = [known.get(one.id, one) for one in found[0]] + new
            self.made = self.made | found[1]
            self._changed()
            then()

        self._jobs.start("readings", read, done=done)

    def look_into(self, reading: Reading, then: Callable[[], None]) -> None:
        """Read what there is of its parts."""
        if reading.id in self.sounds:
            then()
            return

        def done(sounds: Sounds) -> None:
            self._found(reading, sounds | self.sounds.get(reading.id, {}))
            self._changed()
            then()

        self._jobs.start("parts", lambda job: self.readings.sounds(reading), done=done)

    def now(self, reading: Reading) -> Reading:
        """As it is on the disk by now."""
        return next((one for one in self.queue if one.id == reading.id), reading)

    def is_made(self, reading: Reading) -> bool:
        return self.made.get(reading.id, 0) >= len(reading.parts)

    def is_making(self, reading: Reading) -> bool:
        return self.current is not None and self.current.id == reading.id

    def is_going(self, reading: Reading) -> bool:
        """It is being made, or waits for its turn."""
        return self._going and self.now(reading).wanted

    def estimate(self, reading: Reading) -> Estimate:
        """By the lengths of the words, corrected by how long those were that are spoken already, and with the pauses
        between parts; the time by the pace of the model so far."""
        sounds, expected = self.sounds.get(reading.id, {}), self._expected.get(reading.id)
        if expected is None:
            rate, numbers = reading.speech_options().rate, range(len(reading.parts))
            expected = [self._studio.estimate_seconds(reading.words(n)) / rate for n in numbers]
            self._expected[reading.id] = expected
        there = [sound.take.seconds if (sound := sounds.get(n)) and sound.take else None for n in range(len(expected))]
        made = sum(seconds for seconds in there if seconds)
        said = sum(words for words, seconds in zip(expected, there) if seconds is not None)
        missing = sum(words for words, seconds in zip(expected, there) if seconds is None)
        longer = made / said if said > 5 else 1.0
        pace = self.maker.pace if self.maker and self.is_making(reading) else None
        rest = missing * longer
        pause = reading.speech_options().pause_ms / 1000
        pauses = [pause if part.pause_after else 0.0 for part in reading.parts[:-1]] + [0.0]
        silent = sum(each for each, seconds in zip(pauses, there) if seconds is not None)
        under_way = self.maker.under_way if self.maker else 0.0  # seconds of work that are in the next part already
        return Estimate(
            made + silent, made + rest + sum(pauses), None if pace is None else max(0.0, rest * pace - under_way)
        )

    # what is asked

    def plan(
        self,
        text: str,
        names: Sequence[str],
        options: Options,
        then: Callable[[Reading], None],
        *,
        chapters: Sequence[int] = (),
        folder: str | None = None,
        title: str = "",
        wanted: bool = False,
    ) -> None:
        """Cut a text into parts and keep it; `chapters` begin at these characters too."""

        def work(job: Job) -> Reading:
            engine = self._loader.wait(job)
            reading = planned(text, tuple(names), options, engine, chapters, title)
            return self.readings.add(replace(reading, folder=folder, wanted=wanted))

        def done(reading: Reading) -> None:
            self.queue.append(reading)
            self.sounds[reading.id], self.made[reading.id] = {}, 0
            if wanted:
                self._going = True
                self._asked.add(reading.id)
            self._changed()
            then(reading)
            self._next()

        def failed(error: BaseException) -> None:
            self._tell(f"{title or title_of(text)}: {self._explain(error)}")

        self._jobs.start("plan", work, done=done, failed=failed)

    def make(self, *readings: Reading) -> None:
        """All that is missing of them is to be made."""
        for reading in readings:
            self._change(replace(self.now(reading), wanted=True, trouble=""))
            self._asked.add(reading.id)
        self._going = True
        self._next()

    def stop(self, *readings: Reading) -> None:
        """They are not to be made for now; what there is of them stays."""
        for reading in readings:
            self._asked.discard(reading.id)
            self._change(replace(self.now(reading), wanted=False))
            if self.is_making(reading) and self._job:
                self._job.cancel.set()

    def again(self, reading: Reading, number: int, seed: int, then: Callable[[str], None]) -> Job:
        """One part once more, before all that waits; `then(trouble)`."""

        def work(job: Job) -> PartSound:
            maker = PartMaker(reading, self.readings, self._voices, self._studio)
            return maker.again(self._loader.wait(job), number, seed, job)

        def done(sound: PartSound) -> None:
            self._has(reading, number, sound)
            then("")

        def failed(error: BaseException) -> None:
            then("stopped: what was there stays" if isinstance(error, JobCancelled) else self._explain(error))

        return self._jobs.start("part", work, done=done, failed=failed)

    def choose(self, reading: Reading, number: int, by: int) -> bool:
        """Another take of a part into the whole, `by` takes on. False: there is none."""
        sound = self.sounds.get(reading.id, {}).get(number)
        if sound is None or len(sound.takes) < 2:
            return False
        sound = replace(sound, at=(sound.at + by) % len(sound.takes))
        self._has(reading, number, sound)

        def work(job: Job) -> None:
            with self._writing:  # the latest choice, whichever thread comes last
                self.readings.choose(reading, number, self.sounds[reading.id][number])

        self._jobs.start("choose", work)
        return True

    def renamed(self, names: dict[str, str]) -> None:
        """Voices have other names now, by the names they had."""
        touched = [one for one in self.queue if names.keys() & {*one.voices}]
        if touched:
            self._change(*(replace(one, voices=tuple(names.get(name, name) for name in one.voices)) for one in touched))

    def move(self, reading: Reading, by: int) -> None:
        """Up or down in the queue."""
        at = next((n for n, one in enumerate(self.queue) if one.id == reading.id), None)
        if at is None or not 0 <= at + by < len(self.queue):
            return
        one, other = self.queue[at], self.queue[at + by]
        self._change(replace(one, place=other.place), replace(other, place=one.place))
        self.queue.sort(key=lambda reading: (reading.place, reading.when))
        self._changed()

    def remove(self, reading: Reading, then: Callable[[], None]) -> None:
        self.stop(reading)

        def gone(_: Any) -> None:
            self.queue = [one for one in self.queue if one.id != reading.id]
            self._changed()
            then()

        job = self._job if self.is_making(reading) else None

        def work(_: Job) -> None:
            if job:
                job.join(5.0)
            with self._writing:
                self.readings.remove(reading)

        self._jobs.start("remove", work, done=gone)

    def bring_back(self, then: Callable[[str | None], None]) -> None:
        def done(id: str | None) -> None:
            self.sounds.pop(id or "", None)
            self.load(lambda: then(id))

        self._jobs.start("bring back", lambda job: self.readings.bring_back(), done=done)

    # the work

    def _next(self) -> None:
        if self.current is not None or not self._going:
            return
        waiting = [one for one in self.queue if one.wanted and not one.trouble]
        if not waiting:
            return
        reading = self.current = next((one for one in waiting if one.id in self._asked), waiting[0])
        maker = self.maker = PartMaker(reading, self.readings, self._voices, self._studio)
        self.look_into(reading, self._changed)

        def work(job: Job) -> tuple[str, Sounds]:
            made = maker.run(self._loader.wait(job), job)
            sounds = self.readings.sounds(reading)  # another window may have made some
            return self._finished(reading, sounds, job) if made else "", sounds

        def progressed(share: float | None, note: str) -> None:
            for number, sound in maker.news():
                self._has(reading, number, sound)
            self._changed()

        def done(found: tuple[str, Sounds]) -> None:
            said, sounds = found
            self._found(reading, sounds | self.sounds.get(reading.id, {}))
            ended(None, said)

        def ended(error: BaseException | None, said: str = "") -> None:
            progressed(None, "")
            self.current = self.maker = self._job = None
            now = self.now(reading)
            if isinstance(error, JobCancelled):
                self._changed()
            elif error is not None:
                trouble = self._explain(error)
                self._change(replace(now, wanted=False, trouble=trouble))
                self._tell(f"{reading.title}: {trouble}")
            else:
                self._change(replace(now, wanted=False, trouble=""))
                self._tell(said or f"{reading.title}: all of it is made")
            self._next()

        self._job = self._jobs.start(
            "reading",
            work,
            done=done,
            failed=ended,
            progressed=progressed,
        )
        self._changed()

    def _found(self, reading: Reading, sounds: Sounds) -> None:
        self.sounds[reading.id] = sounds | self._late.pop(reading.id, {})
        self.made[reading.id] = len(self.sounds[reading.id])

    def _has(self, reading: Reading, number: int, sound: PartSound) -> None:
        known = self.sounds.get(reading.id)
        if known is None:
            self._late.setdefault(reading.id, {})[number] = sound
        else:
            known[number] = sound
            self.made[reading.id] = len(known)
        self._changed()

    def _change(self, *readings: Reading) -> None:
        changed = {one.id: one for one in readings}
        self.queue = [changed.get(one.id, one) for one in self.queue]

        def work(job: Job) -> None:
            with self._writing:  # as they are by now, whichever thread comes last
                for reading in self.queue:
                    if reading.id in changed and self.readings.of(reading).exists():  # it may be in the bin
                        self.readings.change(reading)

        self._jobs.start("keep", work)
        self._changed()

    def _changed(self) -> None:
        for watcher in list(self.watchers):
            watcher()
