"""Something that may be heard and can be silenced at once; and the replay of sound that exists already."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..engine.protocols import SoundOutput
from ..jobs import Job, aside

if TYPE_CHECKING:
    import numpy as np


class Audible:
    """Runs as a job. `output` is None until it is open."""

    begin = 0.0  # seconds of the whole sound at which the output's first sample lies
    output: SoundOutput | None = None

    def __init__(self) -> None:
        self.job: Job | None = None

    def run(self, job: Job) -> object:
        """Make or play the sound; returns when all was heard or nobody wants to hear it. On the job's thread."""
        raise NotImplementedError

    def stop(self) -> None:
        """Silence now. Stopping a device may hang, so it happens aside."""
        if self.job:
            self.job.cancel.set()
        if self.output:
            aside(self.output.stop, "stop")


class Replay(Audible):
    """Plays samples float32 [n] that exist already; they begin at second `begin` of the whole sound."""

    def __init__(self, samples: np.ndarray, open_output: Callable[[], SoundOutput], begin: float = 0.0):
        super().__init__()
        self.samples, self.begin = samples, begin
        self._open_output = open_output

    def run(self, job: Job) -> None:
        """Raises DeviceError."""
        self.job = job
        output = self._open_output()
        self.output = output
        if job.cancel.is_set():
            return
        output.set_rtf(0.0, None)
        output.play(self.samples)
        drain(output, job)


def drain(output: SoundOutput, job: Job) -> None:
    """Wait until everything queued was heard, or nobody wants to hear it any more."""
    output.finish()
    while not job.cancel.is_set() and not output.wait(0.1):
        if output.error:
            raise output.error
    if output.error:
        raise output.error
