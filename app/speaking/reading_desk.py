"""Long texts made in parts, one after the other, behind whatever somebody waits for. All but the work itself happens on
the interface thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from s2mlx.options import Options

from ..engine.loader import EngineLoader
from ..engine.protocols import SpeechEngine, Studio
from ..engine.voice_shelf import VoiceShelf
from ..jobs import Job, JobCancelled, Jobs
from ..state.reading import PartSound, Reading, title_of
from ..state.readings import Readings
from .part_maker import PartMaker
from .part_plan import one_of, planned, words_and_chapters
from .reading_estimate import Estimate, Lengths
from .spoken_audio import Script

Sounds = dict[int, PartSound]
Told = Callable[[str], None]


class ReadingDesk:
    """`watchers` are called whenever something moves; `complain(error, what to do)` when one cannot go on. On a job's
    thread, when all of one is there: `remember(reading, sounds)`, and `deliver(reading, sounds, job)`, which writes its
    file, if it is to have one, and says so."""

    def __init__(
        self,
        readings: Readings,
        studio: Studio,
        jobs: Jobs,
        loader: EngineLoader,
        voices: VoiceShelf,
        remember: Callable[[Reading, Sounds], None],
        deliver: Callable[[Reading, Sounds, Job], str],
        tell: Told,
        complain: Callable[[BaseException, str], None],
        explain: Callable[[BaseException], str],
    ):
        self.readings, self._studio, self._jobs, self._loader, self._voices = readings, studio, jobs, loader, voices
        self.remember, self._deliver, self._explain = remember, deliver, explain
        self._tell, self._complain = tell, complain
        self.watchers: list[Callable[[], None]] = []
        self.current: Reading | None = None  # the one that is being made in the background
        self.queue: list[Reading] = []  # all that there are, as they are on the disk
        self.sounds: dict[str, Sounds] = {}  # of those that were looked into, by id
        self.made: dict[str, int] = {}  # how many parts there are of each
        self._at_work: dict[str, tuple[PartMaker, Job]] = {}  # who makes which, in the background or to be heard, by id
        self._loaded = self._going = False  # the disk was read; the queue goes on, which waits for that after a start
        self._asked: set[str] = set()  # ids since the start: they come before those that an earlier run has left
        self._writing = threading.Lock()
        self._late: dict[str, Sounds] = {}  # parts that came while the others were being read
        self._lengths = Lengths(studio.estimate_seconds)

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
            self.made, self._loaded = self.made | found[1], True
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

    def maker_of(self, reading: Reading) -> PartMaker | None:
        """Its work, where it is being made."""
        return self._at_work.get(reading.id, (None, None))[0]

    def is_making(self, reading: Reading) -> bool:
        return self.maker_of(reading) is not None

    def is_going(self, reading: Reading) -> bool:
        """It is being made, or waits for its turn."""
        return self._going and self.now(reading).wanted

    def estimate(self, reading: Reading) -> Estimate:
        """How long it will be, and when it is made."""
        return self._lengths.of(reading, self.sounds.get(reading.id, {}), self.maker_of(reading))

    # what is asked

    def plan(
        self,
        text: str,
        names: Sequence[str],
        options: Options,
        then: Callable[[Reading], None],
        *,
        folder: str | None = None,
        title: str = "",
        wanted: bool = False,
    ) -> None:
        """Cut a text into parts and keep it."""

        def work(job: Job) -> Reading:
            engine = self._loader.wait(job)
            words, chapters = words_and_chapters(text)
            reading = planned(words, tuple(names), options, engine, chapters, title, given=text)
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

        way_on = f"“{title or title_of(text)}” is not among the long texts."
        self._jobs.start("plan", work, done=done, failed=lambda error: self._complain(error, way_on))

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
            if work := self._at_work.get(reading.id):
                work[1].cancel.set()

    def again(self, reading: Reading, number: int, seed: int, told: Told, then: Told) -> Job:
        """One part once more, before all that waits; `told(how far)` meanwhile, `then(trouble)`."""

        def work(job: Job) -> PartSound:
            maker = PartMaker(reading, self.readings, self._voices, self._studio)
            return maker.again(self._loader.wait(job), number, seed, job)

        def done(sound: PartSound) -> None:
            self._has(reading, number, sound)
            self._changed()
            then("")

        def failed(error: BaseException) -> None:
            then("stopped: what was there stays" if isinstance(error, JobCancelled) else self._explain(error))

        return self._jobs.start("part", work, done=done, failed=failed, progressed=lambda share, note: told(note))

    def choose(self, reading: Reading, number: int, by: int) -> bool:
        """Another take of a part into the whole, `by` takes on. False: there is none."""
        sound = self.sounds.get(reading.id, {}).get(number)
        if sound is None or len(sound.takes) < 2:
            return False
        sound = replace(sound, at=(sound.at + by) % len(sound.takes))
        self._has(reading, number, sound)
        self._changed()

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
        self.queue.sort(key=lambda one: (one.place, one.when))
        self._changed()

    def remove(self, reading: Reading, then: Callable[[], None]) -> None:
        self.stop(reading)

        def gone(_: Any) -> None:
            self.queue = [one for one in self.queue if one.id != reading.id]
            self._changed()
            then()

        making = self._at_work.get(reading.id)

        def work(_: Job) -> None:
            if making:
                making[1].join(5.0)
            with self._writing:
                self.readings.remove(reading)

        self._jobs.start("remove", work, done=gone)

    def bring_back(self, then: Callable[[str | None], None]) -> None:
        def done(id: str | None) -> None:
            self.sounds.pop(id or "", None)
            self.load(lambda: then(id))

        self._jobs.start("bring back", lambda job: self.readings.bring_back(), done=done)

    # what is heard while it is made

    def find(self, words: str, script: Script, engine: SpeechEngine | None) -> Reading | None:
        """The one that there is of a script, which says these words. From any thread."""
        return one_of(self.queue if self._loaded else self.readings.all(), words, script, engine)

    def take_over(self, reading: Reading, job: Job) -> PartMaker:
        """It is made by that job until `let_go`; what else makes it ends. On that job's thread."""
        before = self._at_work.get(reading.id)
        maker = PartMaker(reading, self.readings, self._voices, self._studio)
        self._at_work[reading.id] = maker, job
        if before:
            before[1].cancel.set()
            before[1].join(5.0)
        return maker

    def let_go(self, reading: Reading, maker: PartMaker) -> None:
        """By that one: another may have taken it over. From any thread; `moved` is to follow."""
        if self.maker_of(reading) is maker:
            del self._at_work[reading.id]

    def moved(self, reading: Reading, maker: PartMaker) -> None:
        """There may be more of it, or it was let go."""
        if all(one.id != reading.id for one in self.queue):
            if reading.id in self.made:  # it was known, and is removed
                return
            self.queue.append(reading)
        if reading.id not in self.sounds and reading.id not in self._late:
            self._late[reading.id] = {}
            self.look_into(reading, lambda: None)
        self._take_news(reading, maker)
        now = self.now(reading)
        if self.is_made(reading) and now.wanted and now.folder is None and not self.is_making(reading):
            self._change(replace(now, wanted=False, trouble=""))
        self._next()

    # the work

    def _next(self) -> None:
        if self.current is not None or not self._going:
            return
        waiting = [one for one in self.queue if one.wanted and not one.trouble and one.id not in self._at_work]
        if not waiting:
            return
        reading = self.current = next((one for one in waiting if one.id in self._asked), waiting[0])
        maker = PartMaker(reading, self.readings, self._voices, self._studio)
        self.look_into(reading, self._changed)

        def work(job: Job) -> tuple[str, Sounds]:
            made = maker.run(self._loader.wait(job), job)
            sounds = self.readings.sounds(reading)  # another window may have made some
            if made:
                self.remember(reading, sounds)
            # with nothing made its file may lack still: the writing failed before, or was cut short
            return self._deliver(reading, sounds, job) if made or reading.folder else "", sounds

        def done(found: tuple[str, Sounds]) -> None:
            self._found(reading, found[1] | self.sounds.get(reading.id, {}))
            ended(None, found[0])

        def ended(error: BaseException | None, said: str = "") -> None:
            self._take_news(reading, maker)
            self.let_go(reading, maker)
            self.current, now = None, self.now(reading)
            if isinstance(error, JobCancelled):
                self._changed()
            elif error is not None:
                self._change(replace(now, wanted=False, trouble=self._explain(error)))
                self._complain(error, "What is made stays: m tries again, on F7.")
            else:
                self._change(replace(now, wanted=False, trouble=""))
                self._tell(said or f"“{reading.title}”: all of it is made")
            self._next()

        news = lambda *_: self._take_news(reading, maker)
        self._at_work[reading.id] = maker, self._jobs.start("reading", work, done=done, failed=ended, progressed=news)
        self._changed()

    def _found(self, reading: Reading, sounds: Sounds) -> None:
        self.sounds[reading.id] = sounds | self._late.pop(reading.id, {})
        self.made[reading.id] = len(self.sounds[reading.id])

    def _take_news(self, reading: Reading, maker: PartMaker) -> None:
        for number, sound in maker.news():
            self._has(reading, number, sound)
        self._changed()

    def _has(self, reading: Reading, number: int, sound: PartSound) -> None:
        if (known := self.sounds.get(reading.id)) is None:
            self._late.setdefault(reading.id, {})[number] = sound
        else:
            known[number] = sound
            self.made[reading.id] = len(known)

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
