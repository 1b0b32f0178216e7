"""Playback as a machine without threads: producers queue audio, `turn` moves it to the device one block at a time.

Every device call happens in `turn`, without the lock; every other method only touches memory and returns at once, so
a device that hangs holds up nobody but its writer. Time comes from the backend, real or simulated.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AudioError, DeviceError
from ..hardware.backend import Backend, RateRefused
from ..hardware.devices import Device
from ..hardware.watchdog import Watchdog
from ..rates import StreamResampler
from .held import Held, Opened
from .line import Line
from .pacing import MARGIN, Pace

_T = TypeVar("_T")
BLOCK_SECONDS = 0.02  # written at a time: what a stop has to wait for at most, if the device takes it at once
_AHEAD = 1.0  # s converted to the device's rate in advance
_KEEP = 2.0  # s kept of what was played, for going back over what a pause drops
_Next = tuple[np.ndarray | None, bool, float | None]  # block to write, is it speech, wait so long if there is none


class Playback:
    """Audio at `rate` Hz on its way to a device. See `Player` for the meaning of the methods they share."""

    def __init__(
        self,
        rate: float,
        device: int | str | None,
        backend: Backend,
        on_event: Callable[[str], None] = lambda name: None,
        on_news: Callable[[], None] = lambda: None,
    ):
        self.rate, self.backend = rate, backend
        self.changed = threading.Condition()  # also the lock of everything below
        self.device: Device | None = None  # once found
        self.device_rate: float = rate
        self.underruns = 0
        self._query, self._on_event, self._on_news = device, on_event, on_news
        self._output: Opened | None = None
        self._error: DeviceError | None = None
        self._busy_since: float | None = None  # a device call is running since
        self._watchdog = Watchdog(backend.clock)
        self._abort_wanted, self._pace = False, Pace()
        self._underflows = 0  # the device's own count, as last seen
        self._reset()

    def _reset(self) -> None:
        self._source, self._line = Line(), Line()  # at the model's and at the device's rate
        self._resampler: StreamResampler | None = None
        self._pace = Pace(self._pace.rtf, self._pace.expected)
        self._finished = self._flushed = False  # no more comes; the resampler has given its rest
        self._began = self._playing = self._dry = False  # sounded once; is sounding; has run out since
        self._done = self._stopped = self._paused = False
        self._tail = 0  # frames of silence written behind the last speech
        self._lead_in: int | None = None  # frames of silence still to write ahead of it; None: not known yet
        self._heard = 0  # frames at the device's rate, never decreasing

    # --- for producers, any thread ---------------------------------------------------------------------------------

    def begin(self, rtf: float | None = None, expected_seconds: float | None = None) -> None:
        with self.changed:
            if self._line.cursor and not self._done:
                self._want_abort()
            self._reset()
            self._pace = Pace(rtf, expected_seconds)
            self._tell()

    def play(self, samples: ArrayLike) -> None:
        # A copy, since the caller may reuse its buffer.
        samples = np.array(samples, dtype=np.float32).reshape(-1)
        if not np.isfinite(samples).all():
            raise AudioError("the samples hold values that are no numbers (NaN or infinity): not played")
        with self.changed:
            if self._stopped or not len(samples):
                return
            if self._done:
                self._reset()
            self._finished = self._flushed = False
            self._source.append(samples)
            self._pace.arrived(len(samples) / self.rate, self.backend.clock())
            self._tell()

    def finish(self) -> None:
        with self.changed:
            self._finished = True
            self._tell()

    def set_rtf(self, rtf: float, expected_seconds: float | None = None) -> None:
        with self.changed:
            self._pace.rtf = rtf
            if expected_seconds is not None:
                self._pace.expected = expected_seconds
            self._tell()

    def stop(self) -> None:
        with self.changed:
            if self._done:
                return
            self._advance()
            self._stopped = self._done = True
            self._want_abort()
            self._tell()

    def pause(self) -> None:
        with self.changed:
            if not self._paused and not self._done:
                self._paused = True
                self._want_abort()
                self._tell()

    def resume(self) -> None:
        with self.changed:
            self._paused = False
            self._tell()

    def _want_abort(self) -> None:
        # Under the lock, so that the interrupt cannot arrive after the abort it belongs to.
        self._abort_wanted = True
        if self._output is not None:
            self._output.stream.interrupt()

    def _tell(self) -> None:
        self.changed.notify_all()
        self._on_news()

    # --- readings, any thread ---------------------------------------------------------------------------------------

    @property
    def error(self) -> DeviceError | None:
        with self.changed:
            if self._watchdog.hangs(self._busy_since):
                self._fail(DeviceError(f"{self._name()} does not answer"))
            return self._error

    @property
    def done(self) -> bool:
        """All that was queued has been heard, or was stopped."""
        return self._done

    @property
    def abort_pending(self) -> bool:
        return self._abort_wanted and self._error is None

    @property
    def paused(self) -> bool:
        return self._paused

    @property
    def playing(self) -> bool:
        """Sound is coming out: begun, not waiting for more, not paused."""
        return self._playing and not self._paused and not self._done

    @property
    def position(self) -> float:
        with self.changed:
            self._advance()
            return min(self._heard / self.device_rate, self._source.total / self.rate)

    @property
    def lead(self) -> float:
        with self.changed:
            return max(0.0, self._source.total / self.rate - self.position) if not self._stopped else 0.0

    @property
    def prebuffer(self) -> float:
        """Seconds that must be in hand before sound starts (or starts again), as things stand."""
        with self.changed:
            return self._pace.needed(max(MARGIN, self._output.stream.latency) if self._output else MARGIN)

    def unheard(self) -> np.ndarray:
        with self.changed:
            return self._source.since(round(self.position * self.rate))

    # --- for the writer, one thread ---------------------------------------------------------------------------------

    def turn(self) -> float | None:
        """One step. Returns how long to wait before the next one: 0 not at all, None until there is news."""
        if self._error is not None:
            return None
        events: list[str] = []
        try:
            return self._turn(events)
        except DeviceError as error:
            with self.changed:
                self._busy_since = None
                self._fail(error)
            events.append("failed")
            return None
        finally:
            for name in events:
                self._on_event(name)

    def release(self) -> None:
        """Give the device back. The last call of the writer."""
        if self._output is not None:
            self._output.stream.close()
            self._output = None

    def fail(self, error: DeviceError) -> None:
        with self.changed:
            self._fail(error)

    def _turn(self, events: list[str]) -> float | None:
        output = self._output or self._device_call(self._open)
        with self.changed:
            abort = self._abort_wanted
        if abort:
            self._device_call(output.stream.abort)
            with self.changed:
                self._aborted(output.held, events)
            return 0
        with self.changed:
            block, speech, wait = self._next(output, events)
        if block is None:
            return wait
        before = self.backend.clock()
        taken = self._device_call(output.stream.write, block)
        with self.changed:
            self._wrote(output, len(block), taken, speech, before, events)
        return 0

    def _device_call(self, function: Callable[..., _T], *arguments: np.ndarray) -> _T:
        self._busy_since = self.backend.clock()
        result = function(*arguments)
        self._busy_since = None
        return result

    def _open(self) -> Opened:
        device = self.device = self.backend.find_output(self._query)
        rate = self.rate
        try:
            stream = self.backend.open_output(device, rate)
        except RateRefused:
            rate = device.default_rate
            stream = self.backend.open_output(device, rate)
        with self.changed:
            self._output, self.device_rate = Opened(stream, Held(rate, stream.latency)), rate
            return self._output

    def _next(self, output: Opened, events: list[str]) -> _Next:
        if self._paused or self._done:
            return None, False, None
        size = max(1, round(BLOCK_SECONDS * self.device_rate))
        self._convert()
        waiting = len(self._line) / self.device_rate + len(self._source) / self.rate
        if not self._playing:
            if not self._finished and waiting < self.prebuffer:
                # Before the first sound the device sleeps; in a gap it is fed silence, since running dry may click.
                return (np.zeros(size, np.float32), False, 0) if self._began else (None, False, None)
            self._playing = True
            if waiting and not self._began:
                self._began = True
                events.append("started")
            elif waiting and self._dry:  # only now is it a gap: the end of a speech runs dry as well
                self.underruns += 1
                events.append("underrun")
            self._dry = False
        if self._lead_in is None:
            self._lead_in = round(output.stream.lead_in * self.device_rate)
        if self._lead_in > 0 and len(self._line):
            return np.zeros(min(size, self._lead_in), np.float32), False, 0
        block = self._line.take(size)
        if len(block):
            return block, True, 0
        now = self.backend.clock()
        if self._finished:
            return self._end(output, size, now, events)
        left = output.held.seconds(now) - BLOCK_SECONDS
        if left > 1e-4:
            return None, False, left
        self._playing, self._dry = False, True
        return None, False, 0

    def _end(self, output: Opened, size: int, now: float, events: list[str]) -> _Next:
        """Behind the last speech: silence that pushes it out of the device, then the moment when it has been heard."""
        if self._began and self._tail < output.stream.latency * self.device_rate:
            return np.zeros(size, np.float32), False, 0
        left = output.held.speech_seconds(now)
        if self._began and left > 1e-4:
            return None, False, left
        self._heard = self._line.cursor
        self._done = True
        self.changed.notify_all()
        events.append("finished")
        return None, False, None

    def _wrote(self, output: Opened, wanted: int, taken: int, speech: bool, before: float, events: list[str]) -> None:
        now, underflows = self.backend.clock(), output.stream.underflows
        flagged, self._underflows = underflows - self._underflows, underflows
        if speech and flagged and self._line.cursor > wanted:  # before the first block the device was idle
            self.underruns += 1
            events.append("underrun")
        output.held.wrote(taken, speech, before, now)
        if speech:
            self._line.go_back_to(self._line.cursor - (wanted - taken))
            self._tail = 0
        else:
            self._tail += taken
            self._lead_in = max(0, (self._lead_in or 0) - taken)
        self._advance()
        self._line.forget_before(self._line.cursor - round(_KEEP * self.device_rate))
        self._source.forget_before(round((self._heard / self.device_rate - _KEEP) * self.rate))

    def _convert(self) -> None:
        """Keep a second of audio at the device's rate ready, no more: a long piece must not hold up the writer."""
        if self.device_rate != self.rate and self._resampler is None:
            self._resampler = StreamResampler(self.rate, self.device_rate)
        while len(self._source) and len(self._line) < _AHEAD * self.device_rate:
            piece = self._source.take(round(_AHEAD * self.rate))
            self._line.append(self._resampler.push(piece) if self._resampler else piece)
        if self._finished and self._resampler and not len(self._source) and not self._flushed:
            self._line.append(self._resampler.flush())
            self._resampler, self._flushed = None, True

    def _advance(self) -> None:
        """Bring the heard position up to now: what was written, less what the device still holds."""
        if self._output is not None and not self._stopped and self._error is None:
            held = round(self._output.held.speech_seconds(self.backend.clock()) * self.device_rate)
            self._heard = max(self._heard, self._line.cursor - held)

    def _aborted(self, held: Held, events: list[str]) -> None:
        self._abort_wanted = False
        self._advance()
        held.dropped(self.backend.clock())
        if self._paused and not self._stopped:
            self._line.go_back_to(self._heard)  # the device dropped the rest; it is played again later
            self._playing = False
            self._lead_in = None
        events.append("stopped" if self._stopped else "paused" if self._paused else "cleared")
        self.changed.notify_all()

    def _fail(self, error: DeviceError) -> None:
        if self._error is None:
            self._advance()
            heard = self._heard / self.device_rate
            self._error = DeviceError(f"{error}; {heard:.1f} s were heard before") if heard else error
            self._tell()

    def _name(self) -> str:
        return self.device.name if self.device else "the output device"
