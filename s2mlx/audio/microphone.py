"""Recording from a microphone, at its own rate, with a live level. The judgement of a take is in verdict.py."""

from __future__ import annotations

import threading

import numpy as np

from ..errors import DeviceError
from .hardware.backend import Backend, InputStream
from .hardware.devices import Device
from .hardware.watchdog import Watchdog
from .meter import Level, Meter
from .rates import resample
from .verdict import Take, Verdict, check, silence_hint, speech_span, trim

__all__ = ["Recorder", "Take", "Verdict", "check", "trim", "speech_span", "silence_hint", "Level"]

MAX_SECONDS = 120.0  # a take is a sentence or two; a forgotten recorder must not fill the memory
SILENT_AFTER = 0.5  # s of exact zeros before a missing permission is suspected
_CLOSE_WAIT = 1.0  # s


class Recorder:
    """One take at a time: `start`, look at `level` while it runs, `stop` gives the `Take` at `rate` Hz.

    device: index or part of a name. Nothing here waits for the device but `wait_ready`; what fails in the background is
    in `error`, and the part recorded until then is not lost.
    """

    def __init__(
        self,
        rate: int,
        device: int | str | None = None,
        backend: Backend | None = None,
        max_seconds: float = MAX_SECONDS,
    ):
        if backend is None:
            from .hardware.portaudio import PortAudio

            backend = PortAudio()
        self.rate = rate
        self._query, self._backend, self._max_seconds = device, backend, max_seconds
        self._changed = threading.Condition()
        self._run: _Capture | None = None

    def start(self) -> None:
        """Open the device and record from the first sound on. Returns at once; see `wait_ready`."""
        if self._run is not None:
            self._run.end()
        self._run = _Capture(self._backend, self._query, self._max_seconds, self._changed)

    def wait_ready(self, timeout: float = 5.0) -> bool:
        """Until sound arrives: True. False at the timeout, or with `error` set."""
        run = self._started()
        with self._changed:
            self._changed.wait_for(lambda: run.frames or run.error, timeout)
            return bool(run.frames) and run.error is None

    def stop(self) -> Take:
        """End the take and give the device back. DeviceError only if there is an `error` and not one sample."""
        run = self._started()
        error = self.error
        self._run = None
        run.end()
        with self._changed:
            pieces, meter = list(run.pieces), run.meter
        if not pieces or meter is None:
            if error:
                raise error
            return Take(np.zeros(0, np.float32), self.rate)
        samples = resample(np.concatenate(pieces), run.rate, self.rate)
        return Take(samples, self.rate, meter.clipped, meter.zeros_only, run.overflows, str(error) if error else None)

    def recorded(self, begin: int = 0) -> tuple[np.ndarray, float]:
        """The running take from its sample `begin` on: float32 [n] at the device's rate, and that rate in Hz. The take
        goes on; without one, or before the first sound, there are no samples."""
        with self._changed:
            pieces, rate = (list(self._run.pieces), self._run.rate) if self._run else ([], float(self.rate))
        wanted = []
        for piece in pieces:
            if begin < len(piece):
                wanted.append(piece[begin:])
            begin = max(0, begin - len(piece))
        return np.concatenate(wanted) if wanted else np.zeros(0, np.float32), rate

    def close(self) -> None:
        """Drop a running take."""
        if self._run is not None:
            self._run.end()
            self._run = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    @property
    def recording(self) -> bool:
        return self._run is not None and not self.full and self.error is None

    @property
    def seconds(self) -> float:
        """Length of the take so far."""
        with self._changed:
            return self._run.frames / self._run.rate if self._run else 0.0

    @property
    def full(self) -> bool:
        """`max_seconds` are reached; the rest is not recorded."""
        return self._run is not None and self._run.full

    @property
    def level(self) -> Level:
        """Peak and rms of the last tenth of a second, in dBFS."""
        with self._changed:
            return self._run.meter.level if self._run and self._run.meter else Level()

    @property
    def clipped(self) -> int:
        """Samples at full scale so far."""
        with self._changed:
            return self._run.meter.clipped if self._run and self._run.meter else 0

    @property
    def noise_floor(self) -> float:
        """dBFS of the pauses so far."""
        with self._changed:
            return self._run.meter.noise_floor if self._run and self._run.meter else Level().rms

    @property
    def silent(self) -> bool:
        """Half a second and more of exact zeros and nothing else: most likely no permission (`silence_hint`)."""
        with self._changed:
            run = self._run
            return bool(run and run.meter and run.meter.zeros_only and run.frames > SILENT_AFTER * run.rate)

    @property
    def device_name(self) -> str | None:
        return self._run.device.name if self._run and self._run.device else None

    @property
    def error(self) -> DeviceError | None:
        """Why no more sound comes; None while all is well."""
        run = self._run
        if run is None:
            return None
        with self._changed:
            if run.error is None and not run.full and run.watchdog.hangs(run.last_sound):
                run.error = DeviceError(f"{run.device.name if run.device else 'the microphone'} does not answer")
            return run.error

    def _started(self) -> _Capture:
        if self._run is None:
            raise DeviceError("no recording is running")
        return self._run


class _Capture:
    """One take in the making: the thread that reads, and what it has read. Guarded by `changed`."""

    def __init__(self, backend: Backend, query: int | str | None, max_seconds: float, changed: threading.Condition):
        self.pieces: list[np.ndarray] = []  # at the device's rate
        self.frames, self.rate = 0, 1.0
        self.meter: Meter | None = None
        self.device: Device | None = None
        self.error: DeviceError | None = None
        self.full = False
        self.overflows = 0
        self.last_sound = backend.clock()
        self.watchdog = Watchdog(backend.clock)
        self._backend, self._query, self._max_seconds, self._changed = backend, query, max_seconds, changed
        self._stream: InputStream | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._read, name="s2mlx-recorder", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop reading and give the device back; a device that hangs is left behind with its thread."""
        with self._changed:
            self._ended = True
            if self._stream is not None:
                self._stream.interrupt()
        self._thread.join(_CLOSE_WAIT)

    def _read(self) -> None:
        try:
            device = self.device = self._backend.find_input(self._query)
            stream = self._backend.open_input(device, device.default_rate)
        except DeviceError as error:
            self._failed(error)
            return
        try:
            with self._changed:
                self._stream, self.rate = stream, device.default_rate
                meter = self.meter = Meter(self.rate)
            while not self._ended and not self.full:
                self._add(stream.read(), stream.overflows, meter)
        except DeviceError as error:
            self._failed(error)
        finally:
            stream.close()

    def _add(self, block: np.ndarray, overflows: int, meter: Meter) -> None:
        with self._changed:
            if self._ended or not len(block):
                return
            block = block[: max(0, round(self._max_seconds * self.rate) - self.frames)]
            self.pieces.append(block)
            self.frames += len(block)
            meter.add(block)
            self.overflows = overflows
            self.last_sound = self._backend.clock()
            self.full = self.frames >= self._max_seconds * self.rate
            self._changed.notify_all()

    def _failed(self, error: DeviceError) -> None:
        with self._changed:
            self.error = self.error or error
            self._changed.notify_all()
