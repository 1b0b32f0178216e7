"""A part of screens that let one hear sounds: one at a time, its playhead on a wave."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.timer import Timer

from ..speaking.audible import Replay
from ..widgets.waveform import Waveform
from .base import AppScreen

if TYPE_CHECKING:
    import numpy as np

TICK = 1 / 20  # seconds between looks at the output


class Listening:
    """`ended(error)` is called when a sound was heard to its end, or could not be; not when it was hushed."""

    def __init__(self, screen: AppScreen, wave: Waveform, ended: Callable[[BaseException | None], None]):
        self._screen, self._wave, self._ended = screen, wave, ended
        self.replay: Replay | None = None
        self.ticking: Timer | None = None

    def play(self, samples: np.ndarray, rate: int, begin: float = 0.0, wave: Waveform | None = None) -> None:
        """samples float32 [n] from `begin` seconds on; its playhead moves on another `wave` from now on, if given."""
        self.hush()
        self._wave = wave or self._wave
        app = self._screen.app
        replay = Replay(samples[int(begin * rate) :], lambda: app.open_output(rate), begin)
        self.replay = replay

        def over(error: BaseException | None = None) -> None:
            if replay is self.replay:
                self.hush()
                self._ended(error)

        replay.job = app.jobs.start("listen", replay.run, owner=self._screen, done=lambda _: over(), failed=over)
        if self.ticking is None:
            self.ticking = self._screen.set_interval(TICK, self.tick)
        self.ticking.resume()

    def hush(self) -> bool:
        """True when something was heard."""
        replay, self.replay = self.replay, None
        if replay:
            replay.stop()
            self._wave.play_at(None)
        if self.ticking:
            self.ticking.pause()
        return replay is not None

    def tick(self) -> None:
        if self.replay and self.replay.output:
            self._wave.play_at(self.replay.begin + self.replay.output.position)
