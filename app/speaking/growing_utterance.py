"""An utterance whose text is still being written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.message import Message

from s2mlx.results import CANCELLED, AudioChunk

from ..engine.live_first import LiveFirst
from ..engine.protocols import SoundOutput, SpeechEngine, Studio
from ..jobs import Job
from .live_utterance import LiveUtterance
from .sentence_follower import SentenceFollower
from .spoken_audio import Script, SpokenAudio

if TYPE_CHECKING:
    from s2mlx import SpeechInput


class GrowingUtterance(LiveUtterance):
    """`write` adds to its text, `finish` says that no more will come. Its script has the whole text at the end."""

    def __init__(
        self,
        studio: Studio,
        engine: LiveFirst,
        script: Script,
        load_voice: Callable[[str, SpeechEngine, Job], Any],
        open_output: Callable[[], SoundOutput],
        post: Callable[[Message], Any],
    ):
        from s2mlx import SpeechInput

        super().__init__(studio, engine, replace(script, text=""), load_voice, open_output, post)
        self._first, self._input = engine, SpeechInput()
        self._written: list[str] = []
        self._part = -1
        self.spoken = 0  # characters, to the end of the last pass that is complete
        self._words_end = 0  # characters, without white space at the end

    @property
    def takes_more(self) -> bool:
        """Its text is not finished."""
        return not (self._input.closed or self.ended.is_set() or (self.job and self.job.cancel.is_set()))

    @property
    def full(self) -> bool:
        """`write` would wait."""
        return self._input.full

    @property
    def ahead(self) -> int:
        """Characters that were written and are not spoken."""
        return max(0, self._words_end - self.spoken)

    @property
    def seconds(self) -> float:
        """Of sound so far."""
        return self._audio.stats.audio_seconds

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(self._written)

    @property
    def seed(self) -> int | None:
        """What it was made with, once there is sound."""
        return self._audio.stats.seed if self._audio.samples else None

    def write(self, words: str, now: bool) -> None:
        """More text; `now`: all of it is to be spoken, without waiting for what may follow. Raises `Closed` where the
        speech has ended."""
        self._input.write(words)
        if words.strip():
            self._words_end = self._input.characters - len(words) + len(words.rstrip())
        self._written.append(words)
        if now:
            self._input.flush()
        self._first.look()

    def finish(self) -> None:
        """No more will come. Does nothing twice."""
        self._input.close()

    def _begin(self) -> SpeechInput:
        self.follower = SentenceFollower("", [], self._estimate)
        return self._input

    def _stream(self, text: Any, **how: Any) -> Iterator[AudioChunk]:
        return self._first.stream_growing(text, lambda: self.ahead > 0, **how)

    def _arrived(self, chunk: AudioChunk) -> None:
        if chunk.part != self._part:
            self._part, self._expected = chunk.part, self._estimate(chunk.text)
            self.follower.grow(chunk.text, self._studio.sentences(chunk.text), chunk.span[0])
        if chunk.finish_reason:
            self.spoken = chunk.span[1]

    def _play(self, chunk: AudioChunk) -> None:
        super()._play(chunk)
        if chunk.finish_reason and self.output and not self.unheard:
            self.output.finish()  # for a while nothing may come: what is there sounds at once, and its end is no gap

    def _make(self, job: Job) -> SpokenAudio:
        try:
            audio = super()._make(job)
        finally:
            self.finish()
        text = self.text
        self.script = audio.script = replace(
            self.script, text=text[: self.spoken] if audio.finish_reason == CANCELLED else text
        )
        return audio
