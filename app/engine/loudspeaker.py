"""The output device, kept open between utterances and lent to one of them at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..jobs import aside

if TYPE_CHECKING:
    import numpy as np


class LentOutput:
    """One utterance's use of the player. After the player was lent to another, this one does nothing."""

    def __init__(self, player: Any, lock: threading.RLock, holdback: float, rate: int):
        self._player, self._lock, self._rate = player, lock, rate
        self._holdback = int(holdback * rate)  # samples to gather before the player gets the first
        self._held: list[np.ndarray] = []
        self._gaps = player.underruns
        self.current = True
        self._last = 0.0

    def _asked(self, call: Callable[[], Any], otherwise: Any = None) -> Any:
        with self._lock:
            return call() if self.current else otherwise

    @property
    def position(self) -> float:
        self._last = self._asked(lambda: self._player.position, self._last)
        return self._last

    @property
    def lead(self) -> float:
        held = sum(map(len, self._held)) / self._rate
        return held + self._asked(lambda: self._player.lead, 0.0)

    @property
    def prebuffer(self) -> float:
        """Seconds that must be there before sound starts."""
        return max(self._holdback / self._rate, self._asked(lambda: self._player.prebuffer, 0.0))

    @property
    def underruns(self) -> int:
        return self._asked(lambda: self._player.underruns - self._gaps, 0)

    @property
    def error(self) -> Exception | None:
        return self._asked(lambda: self._player.error)

    @property
    def device_name(self) -> str | None:
        return self._asked(lambda: self._player.device_name)

    def play(self, samples: np.ndarray) -> None:
        self._held.append(samples)
        if sum(map(len, self._held)) >= self._holdback:
            self._holdback = 0
            self._release()

    def set_rtf(self, rtf: float, expected_seconds: float | None = None) -> None:
        self._asked(lambda: self._player.set_rtf(rtf, expected_seconds))

    def finish(self) -> None:
        self._release()
        self._asked(self._player.finish)

    def wait(self, timeout: float | None = None) -> bool:
        return not self.current or self._player.wait(timeout)

    @property
    def paused(self) -> bool:
        return self._asked(lambda: self._player.paused, False)

    def pause(self) -> None:
        self._asked(self._player.pause)

    def resume(self) -> None:
        self._asked(self._player.resume)

    def stop(self) -> None:
        self._asked(self._player.stop)

    def _release(self) -> None:
        held, self._held = self._held, []
        for samples in held:
            self._asked(partial(self._player.play, samples))


class Loudspeaker:
    """Keeps the player open between utterances; a new device, rate or a failure brings a new one.

    open_player(rate, device) -> a Player; it may raise DeviceError."""

    def __init__(self, open_player: Callable[[int, str | None], Any]):
        self._open = open_player
        self._lock = threading.RLock()
        self._player: Any = None
        self._as: tuple[int, str | None] | None = None
        self._lent: LentOutput | None = None

    def lend(self, rate: int, device: str | None, holdback: float) -> LentOutput:
        with self._lock:
            if self._lent:
                self._lent.current = False
            if self._player is not None and (self._as != (rate, device) or self._player.error):
                aside(self._player.close, "close device")
                self._player = None
            if self._player is None:
                self._player, self._as = self._open(rate, device), (rate, device)
            self._player.begin()
            self._lent = LentOutput(self._player, self._lock, holdback, rate)
            return self._lent

    def close(self) -> None:
        with self._lock:
            player, self._player = self._player, None
        if player is not None:
            player.close()
