"""One utterance on its way from the text to the ear, on a job's thread. It posts typed messages of how it goes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.message import Message

from s2mlx.errors import S2Error
from s2mlx.results import CANCELLED, AudioChunk, worst

from ..engine.protocols import SoundOutput, SpeechEngine, Studio
from ..jobs import Job, JobCancelled
from .audible import Audible, drain
from .sentence_follower import SentenceFollower
from .spoken_audio import Script, SpokenAudio

if TYPE_CHECKING:
    from s2mlx import SpeechInput

AMPLE = 60.0  # seconds: the lead of who hears nothing; pieces are the largest then, and the engine does not wait


class SpeechFrames(Message):
    """More sound exists."""

    def __init__(self, utterance: LiveUtterance, chunk: AudioChunk):
        super().__init__()
        self.utterance, self.chunk = utterance, chunk


class SpeechMade(Message):
    """The engine is done; what was made may still be playing."""

    def __init__(self, utterance: LiveUtterance, audio: SpokenAudio):
        super().__init__()
        self.utterance, self.audio = utterance, audio


class SpeechUnheard(Message):
    """The loudspeaker refused or vanished; the making goes on without it."""

    def __init__(self, utterance: LiveUtterance, error: Exception):
        super().__init__()
        self.utterance, self.error = utterance, error


class SpeechFailed(Message):
    """No more of it comes; what was made may still be playing."""

    def __init__(self, utterance: LiveUtterance, error: Exception):
        super().__init__()
        self.utterance, self.error = utterance, error


class LiveUtterance(Audible):
    """Runs a script through the engine into an output.

    `load_voice(name, engine, job)` and `open_output()` are called on the job's thread and may raise S2Error.
    `follower`, which says what sentence is heard, is there before the first message.
    """

    follower: SentenceFollower
    place: Callable[[tuple[int, int]], tuple[int, int] | None] | None = None  # where characters of it stand by now
    remembered = False  # the history has it already
    unheard: Exception | None = None  # why, when the loudspeaker refused or vanished
    trouble: Exception | None = None  # why it ended early, when it was told already

    def __init__(
        self,
        studio: Studio,
        engine: SpeechEngine,
        script: Script,
        load_voice: Callable[[str, SpeechEngine, Job], Any],
        open_output: Callable[[], SoundOutput],
        post: Callable[[Message], Any],
    ):
        super().__init__()
        self.engine, self.script = engine, script
        self._studio, self._load_voice, self._open_output, self._post = studio, load_voice, open_output, post
        self._expected = 0.0  # seconds of the whole, estimated
        self._audio = SpokenAudio(script, engine.sample_rate)
        self._reasons: list[str] = []  # why its passes ended
        self.ended = threading.Event()  # the engine is done with it

    def complete(self, job: Job) -> SpokenAudio:
        """What was made, for another job; waits until nothing more comes. Raises JobCancelled when that job is."""
        while not self.ended.wait(0.05):
            if job.cancel.is_set():
                raise JobCancelled
        return self._audio

    def run(self, job: Job) -> SpokenAudio:
        """Make the speech and play it. Of one that fails, what was made is heard to its end: the model may be far
        ahead of the ear."""
        self.job = job
        try:
            audio = self._make(job)
        except Exception as error:
            if self._audio.samples and not job.cancel.is_set():
                self.trouble = error
                self._post(SpeechFailed(self, error))
                self._hear_out(job)
            raise
        else:
            self._hear_out(job)
            return audio
        finally:
            self.ended.set()

    def _hear_out(self, job: Job) -> None:
        if self._audio.samples:
            self._audio.whole()
        self.ended.set()
        self._post(SpeechMade(self, self._audio))
        if self.output and not job.cancel.is_set():
            self._try(partial(drain, self.output, job))

    def _make(self, job: Job) -> SpokenAudio:
        text = self._begin()
        audio = self._audio
        audio.when = time.strftime("%Y-%m-%dT%H:%M:%S")
        voice = [self._load_voice(name, self.engine, job) for name in self.script.names] or None
        self._try(self._open)
        stream = self._stream(text, voice=voice, options=self.script.options, cancel=job.cancel, lead=self._lead)
        try:
            for chunk in stream:
                self._take(chunk)
                if job.cancel.is_set():
                    break
        finally:
            close = getattr(stream, "close", None)
            if close:
                close()
        audio.finish_reason = CANCELLED if job.cancel.is_set() else worst(self._reasons)
        return audio

    def _stream(self, text: Any, **how: Any) -> Iterator[AudioChunk]:
        """What the engine makes of what `_begin` gave."""
        return self.engine.stream(text, **how)

    def _take(self, chunk: AudioChunk) -> None:
        """More sound: kept, played and told."""
        self._audio.add(chunk)
        if chunk.finish_reason:
            self._reasons.append(chunk.finish_reason)
        self._arrived(chunk)
        self._try(partial(self._play, chunk))
        self._post(SpeechFrames(self, chunk))

    def _begin(self) -> str | SpeechInput:
        """What the engine is to speak; from now on there is a follower."""
        text = self.script.text
        self._expected = self._estimate(text)
        self.follower = SentenceFollower(text, self._studio.sentences(text), self._estimate)
        return text

    def _estimate(self, words: str) -> float:
        return self._studio.estimate_seconds(words) / self.script.options.rate

    def _arrived(self, chunk: AudioChunk) -> None:
        """More sound has come from the engine, and nobody else knows it yet."""

    def _lead(self) -> float:
        return AMPLE if self.unheard or self.output is None else self.output.lead

    def _open(self) -> None:
        self.output = self._open_output()

    def _play(self, chunk: AudioChunk) -> None:
        if self.output is None or self.unheard:
            return
        if self.output.error:
            raise self.output.error
        if chunk.stats.making_rtf is not None:
            self.output.set_rtf(chunk.stats.making_rtf, self._expected)
        if len(chunk.samples):
            self.output.play(chunk.samples)

    def _try(self, step: Callable[[], Any]) -> None:
        """A device may fail at any step; the utterance is worth more than the device."""
        try:
            step()
        except (S2Error, OSError) as error:
            if not self.unheard:
                self.unheard = error
                self._post(SpeechUnheard(self, error))
