"""The loudspeaker as an output: plays while pieces arrive, waits for its end, keeps what nobody heard."""

from __future__ import annotations

import numpy as np

from .. import audio
from ..errors import DeviceError
from ..results import Stats
from . import autosave
from .terminal import Console, seconds


class PlayedOutput:
    """device: number or part of a name. expected_seconds: an estimate of the whole, for the prebuffer."""

    def __init__(self, rate: int, device: str | None, expected_seconds: float, console: Console):
        self._rate, self._expected, self._console = rate, expected_seconds, console
        self._player = audio.Player(rate, device=device)
        self._samples = 0
        self._said_slow = False

    def lead(self) -> float:
        """Seconds of audio that are waiting to be heard."""
        return self._player.lead

    @property
    def underruns(self) -> int:
        return self._player.underruns

    def write(self, samples: np.ndarray, stats: Stats | None) -> None:
        """Queue float32 [n]; `stats` of the request so far, None when it is whole."""
        self._samples += len(samples)
        if stats is not None and stats.rtf:
            self._player.set_rtf(stats.making_rtf or 0.0, self._expected)
            self._say_slow(stats, stats.rtf)
        self._player.play(samples)

    def expect(self, seconds: float) -> None:
        """So long is what is spoken now; the rest of the text is still being written."""
        self._expected = seconds

    def rest(self) -> None:
        """Nothing may come for a while: what is there sounds at once, and its end is no gap."""
        self._player.finish()

    def finish(self) -> None:
        """Wait until everything was heard. DeviceError if the device gave up; what it did not play is in a file."""
        self._player.finish()
        total = seconds(self._samples / self._rate)
        while not self._player.wait(0.1):
            if self._player.error is not None:
                raise DeviceError(f"{self._player.error}{self._keep()}")
            self._console.progress(f"playing, {seconds(self._player.position)} of {total}")

    def stop(self) -> None:
        """Silence now."""
        self._player.stop()

    def close(self) -> None:
        """Give the device back."""
        self._player.close()

    def _say_slow(self, stats: Stats, rtf: float) -> None:
        if rtf > 1 and stats.audio_seconds > 1 and not self._said_slow:
            self._said_slow = True
            self._console.note(f"a second of speech takes {rtf:.1f} s here; playing waits until enough is ready")

    def _keep(self) -> str:
        """Save what was not heard; where, as the end of a sentence."""
        unheard = self._player.unheard()
        if not len(unheard):
            return ""
        return f"; what was not heard is kept in {autosave.keep('say', unheard, self._rate)}"
