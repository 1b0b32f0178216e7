"""One recording: opens the microphone on a job's thread, says where the take begins, hands over its sound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2mlx.errors import DeviceError

from ..engine.shapes import Recorder, Studio
from ..jobs import Job, Jobs, aside
from .spool import Following, Spool

RATE = 44100  # Hz


class Taking:
    """The microphone is open from `start` on; the take is what comes after `begin`.

    While it grows it is spooled; `keep(samples, rate)` is called on a job's thread as soon as it has ended, before anybody
    looks at it.
    """

    def __init__(self, studio: Studio, jobs: Jobs, spool: Spool, keep: Callable[[np.ndarray, int], None]):
        self._studio, self._jobs, self._spool, self._keep = studio, jobs, spool, keep
        self._following: Following | None = None
        self._dropped = False
        self._began = 0.0
        self.recorder: Recorder | None = None

    def start(self, device: str | None, failed: Callable[[BaseException], None]) -> None:
        def open_microphone(job: Job) -> Recorder:
            recorder = self._studio.recorder(RATE, device)
            recorder.start()
            return recorder

        def opened(recorder: Recorder) -> None:
            if self._dropped:
                aside(recorder.stop, "stop")
            else:
                self.recorder = recorder

        self._jobs.start(
            "microphone", open_microphone, done=opened, failed=lambda error: None if self._dropped else failed(error)
        )

    @property
    def hears(self) -> bool:
        """Sound arrives."""
        return self.recorder is not None and self.recorder.seconds > 0

    @property
    def error(self) -> Exception | None:
        return self.recorder.error if self.recorder else None

    @property
    def seconds(self) -> float:
        """Length of the take so far."""
        return self.recorder.seconds - self._began

    def begin(self, transcript: str, name: str) -> None:
        """The take begins now; the words and the name go with it, should it have to be found again."""
        self._began = self.recorder.seconds
        self._following = self._spool.follow(self.recorder, self._began, transcript, name)

    def drop(self) -> None:
        """Give the microphone back; nothing is kept."""
        self._dropped = True
        if self.recorder:
            aside(self._stop_for_nothing, "stop")

    def _stop_for_nothing(self) -> None:
        self.recorder.stop()
        if self._following:
            self._following.end()
            self._spool.drop()

    def finish(
        self, done: Callable[[np.ndarray, int, OSError | None], None], failed: Callable[[BaseException], None]
    ) -> None:
        """End the take: `done(samples float32 [n], rate, trouble)` with n > 0, or `failed`."""
        self._jobs.start("stop recording", lambda job: self.collect(), done=lambda result: done(*result), failed=failed)

    def collect(self) -> tuple[np.ndarray, int, OSError | None]:
        """End the take, keep and return it, with the reason if it could not be kept. Waits; may raise DeviceError."""
        self._dropped = True
        error = self.recorder.error
        if self._following:
            self._following.end()
        take = self.recorder.stop()
        samples = take.samples[int(self._began * take.rate) :]
        if not len(samples):
            raise error or DeviceError("the microphone gave no sound; choose another input, or try again")
        try:
            self._keep(samples, take.rate)
            self._spool.drop()
        except OSError as trouble:  # a full disk; the take lives on in memory
            return samples, take.rate, trouble
        return samples, take.rate, None
