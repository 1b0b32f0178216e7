"""The files of one `say`: what `-o` names, or one for each part of the text; and runs that go on where they stopped."""

from __future__ import annotations

import argparse
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import S2Error
from ..options import Options
from ..results import CANCELLED, AudioChunk
from ..text import clean_text, has_words, split_text, split_turns
from ..voices import Voice
from .delivery import Delivery
from .parts import numbered
from .resume import Reached, RunProgress
from .subtitles import Subtitles
from .terminal import Console

if TYPE_CHECKING:
    from ..synthesizer import Synthesizer

_LONGEST = 7 * 24 * 3600.0  # seconds of an unfinished file that is gone on with


class Series:
    """chapters: as for `split_text`. How each part is delivered is set up by `prepare(job)`, before its file is added;
    `done(job)` is called when it is there."""

    def __init__(
        self,
        args: argparse.Namespace,
        tts: Synthesizer,
        text: str,
        voices: list[Voice],
        options: Options,
        console: Console,
        chapters: Iterable[int] = (),
    ):
        self._args, self._tts, self._text, self._voices, self._console = args, tts, text, voices, console
        self._parts = split_text(text, args.split, chapters)
        self._progress = RunProgress(args.output, self._run_of(options))
        self._given, self._resumed = bool(voices), args.resume
        self._resumable = not (args.codes or args.raw or args.trim or args.normalize)
        reached = self._progress.load(self._parts) if args.resume else None
        if args.resume and reached is None:
            console.note(f"{args.output}: nothing to go on with, so this begins at the beginning")
        seed = secrets.randbits(32) if options.seed is None else options.seed
        self._reached = reached or Reached(seed)
        self._options = options.replace(seed=self._reached.seed)
        if reached and not self._given and (voice := self._progress.voice()) is not None:
            self._voices = [voice]
        self._first_missing()

    def run(self, prepare: Callable[[Delivery], None], done: Callable[[Delivery], None]) -> None:
        if self._reached.part >= len(self._parts):
            self._console.note(f"{self._args.output}: everything was spoken already")
            return
        while self._reached.part < len(self._parts):
            self._speak(prepare, done)
        if not (self._args.split or self._resumed):
            self._progress.forget()

    def _run_of(self, options: Options) -> dict[str, Any]:
        return {
            "text": _digest(self._text.encode("utf-8", "surrogatepass")),
            "split": self._args.split,
            "model": os.path.realpath(self._tts.path),
            "voices": [_digest(voice.to_bytes()) for voice in self._voices],
            "options": asdict(options),
        }

    def _file(self, path: str) -> str:
        return numbered(path, self._reached.part + 1) if self._args.split else path

    def _first_missing(self) -> None:
        """A file that was finished, or begun, and is not there any more is made again."""
        reached = self._reached
        for number in range(min(reached.part + 1, len(self._parts))):
            file = numbered(self._args.output, number + 1) if self._args.split else self._args.output
            begun = number < reached.part or reached.place > 0
            if begun and not os.path.exists(file):
                self._reached = Reached(reached.seed, number)
                return

    def _speak(self, prepare: Callable[[Delivery], None], done: Callable[[Delivery], None]) -> None:
        reached, args = self._reached, self._args
        begin, end = self._parts[reached.part]
        tag = self._speaker(begin, begin + reached.place)
        job = Delivery(
            self._tts, tag + self._text[begin + reached.place : end], self._voices, self._options, self._console
        )
        path = self._file(args.output)
        job.write_audio(path, args.raw, self._kept(path) if reached.seconds else None)
        prepare(job)
        spoken = _Spoken()
        job.listeners.append(spoken.hear)
        subtitles = None
        if args.subtitles:
            subtitles = Subtitles(self._file(args.subtitles), reached.cues, reached.seconds)
            job.listeners.append(subtitles.hear)
        try:
            job.run()
        except BaseException:
            if job.kept_seconds > reached.seconds and spoken.place:
                reached.place += spoken.place - len(tag)
                reached.seconds = job.kept_seconds
                if subtitles is not None:
                    reached.cues = subtitles.cues
                    subtitles.write()
            if not self._has_words(reached):
                self._reached = reached = Reached(reached.seed, reached.part + 1)
            if (reached.part or reached.place) and self._resumable and self._keep(spoken.voice(self._tts)):
                self._console.note(f"the same command with --resume goes on ({self._left()})")
            raise
        if subtitles is not None:
            subtitles.write()
        self._reached = Reached(reached.seed, reached.part + 1)
        voice = spoken.voice(self._tts)
        if args.split or self._resumed:
            self._keep(voice)
        if not (self._given or self._voices) and voice is not None:
            self._voices = [voice]
        done(job)

    def _has_words(self, reached: Reached) -> bool:
        """Whether anything of its part is left to be spoken."""
        begin, end = self._parts[reached.part]
        return has_words(clean_text(self._text[begin + reached.place : end]), self._tts.config.tags)

    def _left(self) -> str:
        starts = [*(begin for begin, _ in self._parts), len(self._text)]
        spoken = starts[self._reached.part] + self._reached.place
        return f"{round(100 * spoken / len(self._text))} % of the text is spoken"

    def _keep(self, voice: Voice | None) -> bool:
        first = None if self._given or self._voices else voice
        if saved := self._progress.save(self._reached, first):
            return saved
        self._console.warn("how far this run came cannot be kept: --resume will not know of it")
        return False

    def _speaker(self, begin: int, at: int) -> str:
        """The tag under which the text goes on at `at`."""
        speaker = split_turns(self._text[begin:at])[-1].speaker if at > begin else None
        return "" if speaker is None else f"<|speaker:{speaker}|>"

    def _kept(self, path: str) -> np.ndarray:
        from ..audio import read_audio

        try:
            return read_audio(path, self._tts.sample_rate, max_seconds=_LONGEST)
        except S2Error as fault:
            raise S2Error(f"{path} cannot be gone on with: {fault}; leave --resume away to begin anew") from fault


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class _Spoken:
    """How much of a text is in the file, and its first pass, whose voice the rest is to have."""

    def __init__(self) -> None:
        self.place = 0
        self._codes: list[np.ndarray] = []
        self._text: str | None = None

    def hear(self, chunk: AudioChunk) -> None:
        if self._text is None:
            self._codes.append(chunk.codes)
        if chunk.finish_reason not in (None, CANCELLED):
            self.place = chunk.span[1]
            if self._text is None:
                self._text = chunk.text

    def voice(self, tts: Synthesizer) -> Voice | None:
        """None without a finished pass, or where the text names its speakers."""
        if self._text is None or "<|speaker:" in self._text or not sum(codes.shape[1] for codes in self._codes):
            return None
        return Voice(np.concatenate(self._codes, axis=1), self._text, tts.sample_rate, tts.config.codebook_size)
