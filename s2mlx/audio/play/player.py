"""Sound while it is made: one persistent output stream, fed by one writer thread. The rules are in playback.py."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from ...errors import DeviceError
from ..hardware.backend import Backend
from .playback import Playback

_STOP_WAIT = 0.1  # s; a device that has not gone silent by then hangs, and waiting longer would not help
_CLOSE_WAIT = 1.0  # s
_WATCH = 0.25  # s between looks at a device that may hang


class Player:
    """Plays what is queued, in order, without gaps. Only `wait` and (briefly) `stop` ever wait for the device.

    One utterance: `play` its pieces as they come, `finish` after the last; sound starts when `prebuffer` seconds are
    there, or at `finish`. The next `play` after the end begins a new one. After `stop` the rest of an utterance is
    ignored until `begin`.

    rate: of the samples; a device that refuses it gets them resampled. device: index or part of a name.
    on_event(name) is called from the writer thread, must be quick: "started", "underrun", "paused", "stopped",
    "finished", "failed".
    A device that fails or hangs sets `error` (a DeviceError saying where); what was not heard is in `unheard()`.
    """

    def __init__(
        self,
        rate: float,
        device: int | str | None = None,
        backend: Backend | None = None,
        on_event: Callable[[str], None] = lambda name: None,
    ):
        if backend is None:
            from ..hardware.portaudio import PortAudio

            backend = PortAudio()
        self._news = threading.Event()
        self._closing = False
        self._playback = Playback(rate, device, backend, on_event, self._news.set)
        self._thread = threading.Thread(target=self._run, name="s2mlx-player", daemon=True)
        self._thread.start()

    def begin(self, rtf: float | None = None, expected_seconds: float | None = None) -> None:
        """A new utterance; what is left of the one before is dropped."""
        self._playback.begin(rtf, expected_seconds)

    def play(self, samples) -> None:
        """Queue float32 [n] (any n). NaN or infinity, which a device may turn into any noise, is an `AudioError`."""
        self._playback.play(samples)

    def finish(self) -> None:
        """No more comes: what is there starts to play at once, however short."""
        self._playback.finish()

    def set_rtf(self, rtf: float, expected_seconds: float | None = None) -> None:
        """The real-time factor so far and the expected length of the whole speech, from which `prebuffer` follows.
        May be called again at any time. Once a few pieces have come, their own pace counts instead of `rtf`."""
        self._playback.set_rtf(rtf, expected_seconds)

    def stop(self) -> None:
        """Silence now; what is queued is dropped and what still comes is ignored until `begin`."""
        self._playback.stop()
        with self._playback.changed:
            self._playback.changed.wait_for(lambda: not self._playback.abort_pending, _STOP_WAIT)

    def pause(self) -> None:
        """Silence now; `resume` goes on at the same place. Audio may still be queued meanwhile."""
        self._playback.pause()

    def resume(self) -> None:
        self._playback.resume()

    def wait(self, timeout: float | None = None) -> bool:
        """Until everything up to `finish` was heard (or stopped): True. False at the timeout, or with `error` set."""
        playback, clock = self._playback, self._playback.backend.clock
        end = None if timeout is None else clock() + timeout
        with playback.changed:
            while not playback.done and self.error is None:
                left = _WATCH if end is None else min(_WATCH, end - clock())
                if left <= 0:
                    return False
                playback.changed.wait(left)
            return self.error is None

    def close(self) -> None:
        """Silence, and give the device back. A device that hangs is left behind with its thread."""
        self._playback.stop()
        self._closing = True
        self._news.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(_CLOSE_WAIT)

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    @property
    def position(self) -> float:
        """Seconds of this utterance that have been heard (the device's delay is taken off)."""
        return self._playback.position

    @property
    def lead(self) -> float:
        """Seconds of audio queued and not heard yet."""
        return self._playback.lead

    @property
    def prebuffer(self) -> float:
        """Seconds of audio that must be there before sound starts, as things stand."""
        return self._playback.prebuffer

    @property
    def playing(self) -> bool:
        """Sound is coming out."""
        return self._playback.playing

    @property
    def paused(self) -> bool:
        return self._playback.paused

    @property
    def underruns(self) -> int:
        """Gaps so far: times that the device ran dry inside an utterance."""
        return self._playback.underruns

    @property
    def error(self) -> DeviceError | None:
        """Why nothing is heard any more; None while all is well."""
        return self._playback.error

    @property
    def device_name(self) -> str | None:
        """Which device it is, once found."""
        return self._playback.device.name if self._playback.device else None

    def unheard(self) -> np.ndarray:
        """float32 [n] at `rate`: what was queued in this utterance and has not been heard."""
        return self._playback.unheard()

    def _run(self) -> None:
        try:
            while not self._closing:
                self._news.clear()
                pause = self._playback.turn()
                if pause is None or pause > 0:
                    self._news.wait(pause)
        except BaseException as error:
            # A fault of ours or of the event callback; without this, wait() would never end.
            self._playback.fail(DeviceError(f"playback broke: {error!r}"))
            raise
        finally:
            self._playback.release()
