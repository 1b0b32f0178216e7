"""Versions of one text: made in one batch, each in the history as soon as it is there; and those that are there."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from s2mlx.errors import AudioError
from s2mlx.results import Stats, worst

from ..engine.live_first import LiveFirst
from ..jobs import Job, JobCancelled
from ..speaking.spoken_audio import Script, SpokenAudio
from ..state.history import HistoryEntry, distinct_options

if TYPE_CHECKING:
    from ..app import S2App

KEPT = 12  # of earlier versions, the newest, that are found again


@dataclass(frozen=True)
class MadeVersion:
    """One of them: its sound, how loud its speech is, in dBFS, and where the history has it."""

    audio: SpokenAudio
    speech: float
    entry: HistoryEntry | None = None

    @property
    def seconds(self) -> float:
        return len(self.audio.whole()) / self.audio.rate

    @property
    def seed(self) -> int:
        return self.audio.stats.seed

    @property
    def starred(self) -> bool:
        return self.entry is not None and self.entry.starred


class VersionMaker:
    """Speaks a script once for each of `seeds`. `begun`: the seeds of which something came."""

    def __init__(self, app: S2App, engine: LiveFirst, script: Script, seeds: list[int]):
        self._app, self._engine, self._script, self._seeds = app, engine, script, seeds
        self.begun: set[int] = set()
        self._news: deque[MadeVersion] = deque()

    def news(self) -> list[MadeVersion]:
        """Those that were made since this was asked."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def run(self, job: Job) -> list[int]:
        """On a job's thread: the seeds that gave no sound. Raises S2Error, OSError, JobCancelled."""
        app, engine, script = self._app, self._engine, self._script
        voice = [app.voices.load(name, engine, job) for name in script.names] or None
        texts = [(script.text, seed) for seed in self._seeds]
        stream = cast(Generator, engine.stream_each(texts, voice=voice, options=script.options, cancel=job.cancel))
        lost: list[int] = []
        audio, reasons, at = self._begin(0), list[str](), 0
        began, seconds, frames, ended = time.monotonic(), 0.0, 0, False
        with closing(stream):
            for number, chunk in stream:
                if job.cancel.is_set():
                    break
                while at < number:  # the versions before it, if they did not end by themselves
                    if not ended:
                        self._end(audio, reasons, lost)
                    at, reasons, frames, ended = at + 1, [], 0, False
                    audio = self._begin(at)
                self.begun.add(self._seeds[at])
                own = len(chunk.samples) / chunk.sample_rate
                seconds, frames = seconds + own, frames + chunk.frames
                pace = (time.monotonic() - began) / seconds if seconds else 0.0  # of the batch
                own += audio.stats.audio_seconds
                figures = replace(
                    chunk.stats,
                    seed=self._seeds[at],
                    frames=frames,
                    audio_seconds=own,
                    elapsed=own * pace,
                    prefill_seconds=0.0,
                )
                audio.add(replace(chunk, stats=figures))
                if chunk.finish_reason:
                    reasons.append(chunk.finish_reason)
                    if chunk.part == chunk.parts - 1:  # to be heard at once, not when the next one begins
                        self._end(audio, reasons, lost)
                        ended = True
                job.report(None, f"seed {self._seeds[at]}: {audio.stats.audio_seconds:.1f} s")
        if job.cancel.is_set():
            raise JobCancelled
        if not ended:
            self._end(audio, reasons, lost)
        return lost

    def _begin(self, number: int) -> SpokenAudio:
        script = replace(self._script, options=self._script.options.replace(seed=self._seeds[number]))
        audio = SpokenAudio(script, self._engine.sample_rate)
        audio.when = time.strftime("%Y-%m-%dT%H:%M:%S")
        return audio

    def _end(self, audio: SpokenAudio, reasons: list[str], lost: list[int]) -> None:
        """A version is there, and kept before it is shown."""
        samples = audio.whole()
        if not len(samples):
            lost.append(audio.script.options.seed or 0)
            return
        audio.finish_reason = worst(reasons)
        entry = self._app.history.add(self._app.entry_of(audio), samples, audio.rate)
        self._news.append(MadeVersion(audio, self._app.studio.levels(samples, audio.rate).speech, entry))


def kept_versions(app: S2App, script: Script) -> list[MadeVersion]:
    """Those of this text that the history has, by the same voices and options, the oldest first. On a job's thread."""
    options, engine, found = distinct_options(script.options), app.loader.engine, list[MadeVersion]()
    for entry in app.history.entries():
        same = (entry.text, entry.voices, entry.options) == (script.text, script.names, options)
        whole = entry.finish_reason == "stop" and engine is not None and entry.model_name == engine.name
        if not (same and whole) or entry.seed in [version.seed for version in found]:
            continue
        if len(found) >= KEPT and not entry.starred:
            continue
        with suppress(AudioError, OSError):
            samples, rate = app.history.sound(entry)
            audio = SpokenAudio(replace(script, options=script.options.replace(seed=entry.seed)), rate, [samples])
            audio.stats, audio.finish_reason = Stats(entry.seed, entry.frames, entry.seconds), entry.finish_reason
            audio.when = entry.when
            found.append(MadeVersion(audio, app.studio.levels(samples, rate).speech, entry))
    return found[::-1]
