"""The microphone before a recording: its level can be looked at, and nothing of what it hears is kept."""

from __future__ import annotations

from collections.abc import Callable

from ..engine.protocols import SoundInput, Studio
from ..jobs import Job, Jobs, aside

LONGEST = 60.0  # seconds after which it is opened anew: what it has heard is let go


class LevelWatch:
    def __init__(self, studio: Studio, jobs: Jobs):
        self._studio, self._jobs = studio, jobs
        self._asked: object | None = None  # the last opening that was asked for
        self._device: str | None = None
        self._failed: Callable[[BaseException], None] = lambda error: None
        self.microphone: SoundInput | None = None  # once it is open

    @property
    def on(self) -> bool:
        return self._asked is not None

    def start(self, device: str | None, failed: Callable[[BaseException], None]) -> None:
        """Open the device in place of the one before. `failed(error)` where that is not possible."""
        release = self.end()
        asked = self._asked = object()
        self._device, self._failed = device, failed

        def open_microphone(job: Job) -> SoundInput:
            release()
            microphone = self._studio.open_level(device)
            microphone.start()
            return microphone

        def opened(microphone: SoundInput) -> None:
            if asked is self._asked:
                self.microphone = microphone
            else:
                aside(microphone.stop, "stop")

        def refused(error: BaseException) -> None:
            if asked is self._asked:
                self._asked = None
                failed(error)

        self._jobs.start("level", open_microphone, done=opened, failed=refused)

    def look(self) -> SoundInput | None:
        """The microphone, if it is open and well; one that is not is let go."""
        microphone = self.microphone
        if microphone is None:
            return None
        if microphone.error:
            self.stop()
            self._failed(microphone.error)
            return None
        if microphone.seconds > LONGEST:
            self.start(self._device, self._failed)
        return microphone

    def end(self) -> Callable[[], None]:
        """No more of it. The device is free when what is returned has been called, which may take a moment."""
        microphone, self.microphone, self._asked = self.microphone, None, None

        def release() -> None:
            if microphone:
                microphone.stop()

        return release

    def stop(self) -> None:
        aside(self.end(), "stop")
