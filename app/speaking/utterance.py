"""One utterance on its way from the text to the ear, on a job's thread. Posts typed messages; draws nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from textual.message import Message

from s2mlx.errors import S2Error
from s2mlx.options import Options
from s2mlx.results import CANCELLED, LENGTH, STOP, AudioChunk, Stats

from ..engine.loader import Dropped
from ..engine.shapes import Player, Studio, Synthesizer
from ..jobs import Job, aside
from .follow import Follower

_WORST_LAST = (STOP, LENGTH, CANCELLED)
STEADY = 2.0  # seconds of sound after the first, from which the pace of the making can be told
AMPLE = 60.0  # seconds: the lead of who hears nothing; pieces are the largest then, and the engine does not wait


@dataclass(frozen=True)
class Script:
    """What is to be said, by the voices of these names (speaker 0, 1, ...; none: the model's own)."""

    text: str
    names: tuple[str, ...] = ()
    options: Options = Options()


@dataclass
class Made:
    """The sound of a request so far: samples float32 [n], codes int32 [num_codebooks, frames]."""

    request: Script
    rate: int
    samples: list[np.ndarray] = field(default_factory=list)
    codes: list[np.ndarray] = field(default_factory=list)
    stats: Stats = Stats()
    first: Stats | None = None  # with the first sound
    finish_reason: str = CANCELLED
    when: str = ""

    def add(self, chunk: AudioChunk) -> None:
        self.samples.append(chunk.samples)
        self.codes.append(chunk.codes)
        self.stats = chunk.stats
        if self.first is None and chunk.stats.audio_seconds:
            self.first = chunk.stats

    @property
    def pace(self) -> float | None:
        """Wall time / audio time since the first sound; None while there is too little of it to tell. The reading of the
        prompt is in the time to first audio, and says nothing of whether the sound will keep up."""
        if self.first is None or self.stats.audio_seconds < self.first.audio_seconds + STEADY:
            return None
        return (self.stats.elapsed - self.first.elapsed) / (self.stats.audio_seconds - self.first.audio_seconds)

    def whole(self) -> np.ndarray:
        """All samples as one array; joined once."""
        if len(self.samples) != 1:
            self.samples = [np.concatenate(self.samples) if self.samples else np.zeros(0, np.float32)]
        return self.samples[0]

    def all_codes(self) -> np.ndarray:
        return np.concatenate(self.codes, axis=1) if self.codes else np.zeros((0, 0), np.int32)


class SpeechFrames(Message):
    """More sound exists."""

    def __init__(self, speaking: Speaking, chunk: AudioChunk):
        super().__init__()
        self.speaking, self.chunk = speaking, chunk


class SpeechMade(Message):
    """The engine is done; what was made may still be playing."""

    def __init__(self, speaking: Speaking, made: Made):
        super().__init__()
        self.speaking, self.made = speaking, made


class SpeechUnheard(Message):
    """The loudspeaker refused or vanished; generation goes on without it."""

    def __init__(self, speaking: Speaking, error: Exception):
        super().__init__()
        self.speaking, self.error = speaking, error


class Sounding:
    """Something that may be heard and can be stopped at once. `player` is None until it is open."""

    player: Player | None = None

    def __init__(self):
        self.job: Job | None = None

    def stop(self) -> None:
        """Silence now. Stopping a device may hang, so it happens aside."""
        if self.job:
            self.job.cancel.set()
        if self.player:
            aside(self.player.stop, "stop")


class Speaking(Sounding):
    """Runs a request through the engine into a player.

    `load_voice(name, engine, job)` and `open_player()` are called on the job's thread and may raise S2Error. `follower`,
    which says what sentence is heard, is there before the first message.
    """

    follower: Follower
    unheard: Exception | None = None  # why, when the loudspeaker refused or vanished

    def __init__(
        self,
        studio: Studio,
        engine: Synthesizer,
        request: Script,
        load_voice: Callable[[str, Synthesizer, Job], Any],
        open_player: Callable[[], Player],
        post: Callable[[Message], Any],
    ):
        super().__init__()
        self.engine, self.request = engine, request
        self._studio, self._load_voice, self._open_player, self._post = studio, load_voice, open_player, post
        self._expected = 0.0
        self._made = Made(request, engine.sample_rate)
        self.ended = threading.Event()  # the engine is done with it

    def complete(self, job: Job) -> Made:
        """What was made, for another job; waits until nothing more comes. Raises Dropped when that job is cancelled."""
        while not self.ended.wait(0.05):
            if job.cancel.is_set():
                raise Dropped
        return self._made

    def run(self, job: Job) -> Made:
        """Make the speech and play it."""
        self.job = job
        try:
            made = self._make(job)
        finally:
            if self._made.samples:
                self._made.whole()
            self.ended.set()
        self._post(SpeechMade(self, made))
        if self.player and not job.cancel.is_set():
            self._try(lambda: _drain(self.player, job))
        return made

    def _make(self, job: Job) -> Made:
        text, estimate = self.request.text, self._studio.estimate_seconds
        self._expected = estimate(text)
        self.follower = Follower(text, self._studio.sentences(text), estimate)
        made = self._made
        made.when = time.strftime("%Y-%m-%dT%H:%M:%S")
        voice = [self._load_voice(name, self.engine, job) for name in self.request.names] or None
        self._try(self._open)
        reasons = []
        stream = self.engine.stream(
            self.request.text, voice=voice, options=self.request.options, cancel=job.cancel, lead=self._lead
        )
        try:
            for chunk in stream:
                made.add(chunk)
                if chunk.finish_reason:
                    reasons.append(chunk.finish_reason)
                self._try(lambda: self._play(chunk))
                self._post(SpeechFrames(self, chunk))
                if job.cancel.is_set():
                    break
        finally:
            close = getattr(stream, "close", None)
            if close:
                close()
        cancelled = job.cancel.is_set() or not reasons
        made.finish_reason = CANCELLED if cancelled else max(reasons, key=_WORST_LAST.index)
        return made

    def _lead(self) -> float:
        return AMPLE if self.unheard or self.player is None else self.player.lead

    def _open(self) -> None:
        self.player = self._open_player()

    def _play(self, chunk: AudioChunk) -> None:
        if self.player is None or self.unheard:
            return
        if self.player.error:
            raise self.player.error
        if chunk.stats.rtf is not None:
            self.player.set_rtf(chunk.stats.rtf, self._expected)
        if len(chunk.samples):
            self.player.play(chunk.samples)

    def _try(self, step: Callable[[], Any]) -> None:
        """A device may fail at any step; the utterance is worth more than the device."""
        try:
            step()
        except (S2Error, OSError) as error:
            if not self.unheard:
                self.unheard = error
                self._post(SpeechUnheard(self, error))


class Listening(Sounding):
    """Plays samples float32 [n] that exist already."""

    def __init__(self, samples: np.ndarray, open_player: Callable[[], Player], begin: float = 0.0):
        super().__init__()
        self.samples, self.begin = samples, begin
        self._open_player = open_player

    def run(self, job: Job) -> None:
        """Raises DeviceError."""
        self.job = job
        player = self._open_player()
        self.player = player
        if job.cancel.is_set():
            return
        player.set_rtf(0.0, None)
        player.play(self.samples)
        _drain(player, job)


def _drain(player: Player, job: Job) -> None:
    """Wait until everything queued was heard, or nobody wants to hear it any more."""
    player.finish()
    while not job.cancel.is_set() and not player.wait(0.1):
        if player.error:
            raise player.error
    if player.error:
        raise player.error
