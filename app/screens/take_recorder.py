"""A part of the recording screen: a recording from the count to the take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from .. import figures
from ..recording.level_watch import LevelWatch
from ..recording.live_recording import LiveRecording
from ..recording.take_facts import SHORTEST
from ..state.take_file import UnsavedTake
from ..widgets.level_meter import LevelMeter
from ..widgets.trimmer import Trimmer
from .base import AppScreen
from .review import LONGEST, Stage

if TYPE_CHECKING:
    from ..app import S2App


class RecordingBoard(Protocol):
    """The screen around a recording: it shows how it goes."""

    stage: Stage

    def enter(self, stage: Stage) -> None: ...

    def cue(self, text: str) -> None: ...

    def verdict(self, text: str) -> None: ...

    def took(self, take: UnsavedTake, remark: str) -> None:
        """There is a new take."""

    def took_nothing(self) -> None:
        """The recording has ended without one."""


class TakeRecorder:
    """Draws the level on `meter` and the sound on `trimmer`. `words()` and `name()`: what stands on the screen now."""

    def __init__(
        self,
        screen: AppScreen,
        board: RecordingBoard,
        meter: LevelMeter,
        trimmer: Trimmer,
        countdown: float,
        words: Callable[[], str],
        name: Callable[[], str],
    ):
        self._screen, self._board, self._meter, self._trimmer = screen, board, meter, trimmer
        self._words, self._name = words, name
        self._countdown, self._until = countdown, 0.0
        self._zeros_told = False
        self.recording: LiveRecording | None = None  # the one under way
        self._watch: LevelWatch | None = None  # before it

    @property
    def _app(self) -> S2App:
        return self._screen.app

    def watch(self) -> None:
        """Show the level of the chosen microphone before anything is recorded."""
        self._watch = self._watch or LevelWatch(self._app.studio, self._app.jobs)
        self._watch.start(self._app.settings.input, lambda error: self._board.verdict(f"! {self._app.explain(error)}"))

    @property
    def watching(self) -> bool:
        return self._watch is not None and self._watch.on

    def end_watch(self) -> None:
        if self._watch:
            self._watch.stop()

    def start(self) -> None:
        self._tell_zeros(False)
        self._meter.reset()
        self._trimmer.clear()
        self._until = time.monotonic() + self._countdown
        session = self._app.session
        file = session.new_recording()
        self.recording = LiveRecording(
            self._app.studio,
            self._app.jobs,
            file,
            lambda samples, rate: session.keep_take(samples, rate, self._words(), self._name(), file),
        )
        self.recording.start(self._app.settings.input, self._failed, self._watch.end() if self._watch else _nothing)
        self._board.enter(Stage.COUNTING)

    def tick(self) -> None:
        """Look at the microphone."""
        recording = self.recording
        if self._watch and self._board.stage is Stage.IDLE and (microphone := self._watch.look()):
            self._meter.show(microphone.level.peak, microphone.level.rms)
            if microphone.silent != self._zeros_told:
                self._tell_zeros(microphone.silent)
        if recording is None or self._board.stage not in (Stage.COUNTING, Stage.RECORDING):
            return
        if microphone := recording.microphone:
            self._meter.show(microphone.level.peak, microphone.level.rms, microphone.clipped)
            if microphone.silent != self._zeros_told:
                self._tell_zeros(microphone.silent)
        if self._board.stage is Stage.COUNTING:
            self._tick_counting(recording)
        else:
            self._tick_recording(recording)

    def _tell_zeros(self, so: bool) -> None:
        """Say that the microphone gives nothing but zeros, or take it back."""
        self._zeros_told = so
        self._board.verdict("! " + self._app.studio.silence_hint() if so else "")

    def _tick_counting(self, recording: LiveRecording) -> None:
        left = self._until - time.monotonic()
        if recording.error:
            self._failed(recording.error)
        elif left > 0:
            self._board.cue(f"get ready: {int(left) + 1}   (esc stops)")
        elif not recording.hears:
            self._board.cue("opening the microphone   (esc stops)")
        else:
            recording.begin(self._words(), self._name())
            self._app.recordings.begins(recording.collect)
            self._trimmer.clear(1000)  # drawn from the level, one point a millisecond
            self._board.enter(Stage.RECORDING)

    def _tick_recording(self, recording: LiveRecording) -> None:
        import numpy as np

        seconds = recording.seconds
        grown = int(seconds * 1000) - self._trimmer.envelope.samples
        if grown > 0 and recording.microphone:
            peak = 10 ** (min(0.0, recording.microphone.level.peak) / 20)
            self._trimmer.extend(np.full(grown, peak, np.float32))
        left = max(0.0, LONGEST - seconds)
        enough = "enough to stop: space" if seconds >= SHORTEST else f"{math.ceil(SHORTEST - seconds)} s more at least"
        self._board.cue(f"● recording {figures.clock(seconds)}   {figures.clock(left)} left   {enough}")
        if left == 0 or recording.error:
            self.finish()

    def finish(self) -> None:
        recording, self.recording = self.recording, None
        if recording is None:
            return
        explain = self._app.explain
        self._app.recordings.ends()
        lost = recording.error
        self._board.enter(Stage.KEEPING)
        self._board.cue("keeping the take")
        remark = f"{explain(lost)}; what came before is kept. " if lost else ""

        def done(take: UnsavedTake, trouble: OSError | None) -> None:
            unsafe = f"not on disk yet ({explain(trouble)}): save it before you leave. " if trouble else ""
            self._board.took(take, remark + unsafe)

        recording.finish(done, self._failed)

    def _failed(self, error: BaseException) -> None:
        self.drop()
        self._board.verdict(f"! {self._app.explain(error)}")

    def drop(self) -> None:
        """End a recording without a take."""
        if self.recording:
            self.recording.drop()
        self.recording = None
        self._board.took_nothing()


def _nothing() -> None:
    """Nothing has to happen before."""
