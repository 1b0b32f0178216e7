"""One recording: opens the microphone on a job's thread, says where the take begins, hands over its sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from s2mlx.errors import DeviceError

from ..engine.protocols import SoundInput, Studio
from ..jobs import Job, Jobs, aside
from ..state.recording_file import RecordingFile, RecordingWriter
from ..state.take_file import UnsavedTake

if TYPE_CHECKING:
    import numpy as np

RATE = 44100  # Hz


class LiveRecording:
    """The microphone is open from `start` on; the take is what comes after `begin`.

    While the take grows it is written to `file`; `keep(samples, rate)`, which may raise OSError, is called on a job's
    thread as soon as it has ended, before anybody looks at it.
    """

    def __init__(self, studio: Studio, jobs: Jobs, file: RecordingFile, keep: Callable[[np.ndarray, int], UnsavedTake]):
        self._studio, self._jobs, self._file, self._keep = studio, jobs, file, keep
        self._writer: RecordingWriter | None = None
        self._dropped = False
        self._began = 0.0  # seconds of the microphone's sound at which the take begins
        self.microphone: SoundInput | None = None  # once it is open

    def start(
        self,
        device: str | None,
        failed: Callable[[BaseException], None],
        before: Callable[[], None] = lambda: None,
    ) -> None:
        """`before()` is called on the job's thread, before the device is opened."""

        def open_microphone(job: Job) -> SoundInput:
            before()
            microphone = self._studio.open_input(RATE, device)
            microphone.start()
            return microphone

        def opened(microphone: SoundInput) -> None:
            if self._dropped:
                aside(microphone.stop, "stop")
            else:
                self.microphone = microphone

        self._jobs.start(
            "microphone", open_microphone, done=opened, failed=lambda error: None if self._dropped else failed(error)
        )

    @property
    def hears(self) -> bool:
        """Sound arrives."""
        return self.microphone is not None and self.microphone.seconds > 0

    @property
    def error(self) -> Exception | None:
        return self.microphone.error if self.microphone else None

    @property
    def seconds(self) -> float:
        """Length of the take so far."""
        return self.microphone.seconds - self._began if self.microphone else 0.0

    def begin(self, transcript: str, name: str) -> None:
        """The take begins now; the words and the name go with it, should it have to be found again."""
        microphone = self._open()
        self._began = microphone.seconds
        self._writer = self._file.write_on(microphone.recorded, self._began, transcript, name)

    def drop(self) -> None:
        """Give the microphone back; nothing is kept."""
        self._dropped = True
        if self.microphone:
            aside(self._stop_for_nothing, "stop")

    def _stop_for_nothing(self) -> None:
        self._open().stop()
        if self._writer:
            self._writer.end()
            self._file.drop()

    def finish(
        self, done: Callable[[UnsavedTake, OSError | None], None], failed: Callable[[BaseException], None]
    ) -> None:
        """End the take: `done(take, trouble)`, or `failed`."""
        self._jobs.start("stop recording", lambda job: self.collect(), done=lambda result: done(*result), failed=failed)

    def collect(self) -> tuple[UnsavedTake, OSError | None]:
        """End the take, keep and return it, with the reason if it could not be kept. Waits; may raise DeviceError."""
        self._dropped = True
        microphone = self._open()
        error = microphone.error
        if self._writer:
            self._writer.end()
        take = microphone.stop()
        samples = take.samples[int(self._began * take.rate) :]
        if not len(samples):
            raise error or DeviceError("the microphone gave no sound; choose another input, or try again")
        try:
            kept = self._keep(samples, take.rate)
            self._file.drop()
        except OSError as trouble:  # a full disk; the take lives on in memory
            return UnsavedTake(samples, take.rate), trouble
        return kept, None

    def _open(self) -> SoundInput:
        assert self.microphone is not None, "the microphone is not open yet"
        return self.microphone
