"""A synthesizer without a model: all that `s2mlx.Synthesizer` says of itself and does, made of numbers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from s2mlx.config import ModelConfig
from s2mlx.errors import ModelError, UsageError
from s2mlx.request.pass_source import ArrivingPasses
from s2mlx.request.run import MOST_LEAD
from s2mlx.results import CANCELLED, STOP, Audio, AudioChunk, Pass, Stats
from s2mlx.text import Span, estimate_seconds, has_words
from s2mlx.voices import Voice
from s2mlx.worker import Aside

from .gate import Gate

RATE, FRAME, BOOKS = 44100, 2048, 10


def in_one(text: str) -> list[tuple[int, int]]:
    return [(0, len(text))]


def by_sentence(text: str) -> list[tuple[int, int]]:
    """A pass ends at each full stop."""
    ends = [i + 1 for i, c in enumerate(text) if c == "."] or [len(text)]
    ends[-1] = len(text)
    return list(zip([0, *ends], ends))


def in_halves(text: str) -> list[tuple[int, int]]:
    return [(0, len(text) // 2), (len(text) // 2, len(text))]


class Cloned(NamedTuple):
    """What `clone` was asked for."""

    clip: object
    words: str
    name: str


class FakeCodec:
    """Frame numbers for codes, one value for sound."""

    def encode(self, samples, cancel=None):
        frames = -(-len(samples) // FRAME)
        return np.tile(np.arange(frames, dtype=np.int32), (BOOKS, 1))

    def decode(self, codes, chunk=None):
        self.chunk = chunk
        return np.full(codes.shape[1] * FRAME, 0.25, np.float32)


@dataclass
class FakeSynthesizer:
    """Speaks one request at a time: a pass of `frames` frames for each span of `passes(text)`, `per_chunk` frames at a
    time. Codes are the seed, samples what `sound(frames of the request)` holds; both are the same each time."""

    frames: int = 3
    per_chunk: int = 1
    passes: Callable[[str], list[tuple[int, int]]] = in_one
    sound: Callable[[int], np.ndarray] = lambda frames: np.full(frames * FRAME, 0.25, np.float32)
    finish: str = STOP  # why each pass ends
    # What it says of its work, whatever it took: the time to the first sound, what came before that, and the pace.
    first_audio: float = 0.02
    startup: float = 0.0
    rtf: float = 0.5
    # What hinders it: seconds before each chunk; silence behind each frame; a gate before each chunk from frame
    # `waiting_at` on, and before each clone; the frame that raises `failure`.
    delay: float = 0.0
    pause: int = 0
    gate: Gate = field(default_factory=Gate)
    waiting_at: int = 0
    clone_gate: Gate = field(default_factory=Gate)
    clone_fail: Exception | None = None
    fail_at: int | None = None
    failure: BaseException = field(default_factory=lambda: ModelError("the fake model failed"))
    # What `say` gives, in turn, instead of what `stream` would: (times its words take, finish reason) or a fault; its
    # codes are then its number.
    sayings: list | None = None
    hearings: list = field(default_factory=list)  # what a check hears of each pass in turn, the last of all that follow
    is_demo: bool = False
    name: str = "Fake S2"
    path: str = "/models/fake.gguf"
    memory: int = 4_630_000_000
    peak_memory: int = 5_100_000_000

    # What a test looks at.
    calls: list = field(default_factory=list)  # of stream and say: how, text, voice, options, lead
    said: list = field(default_factory=list)  # seeds of `sayings`
    batches: list = field(default_factory=list)  # of stream_each: (text, seed) of each text
    cloned: list = field(default_factory=list)  # of `Cloned`
    cancelled: list = field(default_factory=list)  # texts
    spoken: list = field(default_factory=list)  # passes of texts that were being written
    made: int = 0  # frames so far
    closed: bool = False
    ear: str | None = None

    sample_rate, frame_samples, num_codebooks = RATE, FRAME, BOOKS

    def __post_init__(self):
        self.codec, self.config, self._one = FakeCodec(), ModelConfig(name=self.name), threading.Lock()

    def stream(self, text, *, voice=None, options=None, cancel=None, lead=None):
        self.calls.append(SimpleNamespace(how="stream", text=text, voice=voice, options=options, lead=lead))
        return self._chunks(text, options, cancel, lead, self.frames)

    def stream_each(self, texts, *, voice=None, options=None, cancel=None, lead=None, follow=False):
        """One after the other, in the same batch for all that is known outside."""
        self.batches.append(list(texts))
        for number, (text, seed) in enumerate(texts):
            for chunk in self.stream(text, voice=voice, options=options.replace(seed=seed), cancel=cancel, lead=lead):
                yield number, chunk
                if chunk.finish_reason == CANCELLED:
                    return

    def plan(self, text):
        """A pass for each span of `passes(text)`."""
        spans = self.passes(text)
        if not has_words(text):
            raise UsageError("there is nothing to say")
        return [Span(begin, end, end < len(text), None) for begin, end in spans]

    def say(self, text, *, voice=None, options=None, on_chunk=None, cancel=None, seed=None, max_frames=None):
        if self.sayings is not None:
            return self._saying(text, seed, max_frames)
        self.calls.append(SimpleNamespace(how="say", text=text, voice=voice, options=options, lead=None))
        chunks = []
        for chunk in self._chunks(text, options, cancel, None, self.frames):
            chunks.append(chunk)
            if on_chunk:
                on_chunk(chunk)
        return Audio(
            np.concatenate([c.samples for c in chunks]),
            RATE,
            np.concatenate([c.codes for c in chunks], axis=1),
            self.finish,
            [Pass(c.part, c.span, self.frames, self.finish) for c in chunks if c.finish_reason],
            chunks[-1].stats,
        )

    def clone(self, clip, transcript, *, name="", cancel=None):
        self.clone_gate.pass_through(lambda: cancel is not None and cancel.is_set())
        if self.clone_fail:
            raise self.clone_fail
        self.cloned.append(Cloned(clip, transcript, name))
        frames = max(1, len(clip[0]) // FRAME) if isinstance(clip, tuple) else 5
        return Voice(np.zeros((BOOKS, frames), np.int32), transcript, name=name)

    def beside(self, work, cancel=None):
        """On the thread of who asks, between the requests."""
        for item in work(lambda: cancel is None or not cancel.is_set()):
            if not isinstance(item, Aside):
                yield item

    def warm_up(self):
        pass

    def close(self):
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _saying(self, text, seed, max_frames):
        self.said.append(seed)
        saying = self.sayings[len(self.said) % len(self.sayings) - 1]
        if isinstance(saying, Exception):
            raise saying
        length, reason = saying
        frames = round(length * estimate_seconds(text) * RATE / FRAME)
        assert frames <= max_frames
        return Audio(np.zeros(frames * FRAME, np.float32), RATE, np.full((BOOKS, 9), len(self.said), np.int32), reason)

    def _chunks(self, text, options, cancel, lead, frames):
        stopped = lambda: cancel is not None and cancel.is_set()
        if not isinstance(text, str):
            yield from self._as_it_comes(text, options, stopped, lead, frames)
            return
        spans, seed, done = self.passes(text), 7 if options.seed is None else options.seed, 0
        with self._one:
            sound = self.sound(frames * len(spans))
            for part in range(len(spans)):
                for begin in range(0, frames, self.per_chunk) or [0]:
                    self._wait(done, stopped, lead)
                    if stopped():
                        self.cancelled.append(text)
                        yield self._chunk(sound[:0], seed, done, part, spans, CANCELLED, text[slice(*spans[part])])
                        return
                    if done == self.fail_at:
                        raise self.failure
                    count = min(self.per_chunk, frames - begin)
                    done, self.made = done + count, self.made + count
                    reason = self.finish if begin + count == frames else None
                    piece, words = sound[(done - count) * FRAME : done * FRAME], text[slice(*spans[part])]
                    yield self._chunk(piece, seed, done, part, spans, reason, words)

    def _as_it_comes(self, text, options, stopped, lead, frames):
        """The passes of a text that is being written, all of a pass in one chunk."""
        seed, done, source = 7 if options.seed is None else options.seed, 0, ArrivingPasses(text, 30.0)
        text.begin()
        try:
            while True:
                while (wait := source.hurry()) is not None:
                    if stopped():
                        return
                    news = threading.Event()
                    wait.subscribe(news.set)
                    news.wait(min(0.02, wait.seconds or 1.0))
                if not source.known:
                    return
                one = source.known.popleft()
                self.spoken.append(one.text)
                self._wait(done, stopped, lead)
                if done == self.fail_at:
                    raise self.failure
                done, self.made = done + frames, self.made + frames
                sound = self.sound(done)[-frames * FRAME :]
                yield self._chunk(sound, seed, done, one.index, [one.span] * (one.index + 1), self.finish, one.text)
        finally:
            source.leave()

    def hold(self, chunks=0):
        """So many chunks more, and then none until the gate is opened."""
        self.gate.close()
        self.waiting_at = 0
        self.gate.let(chunks)

    def _wait(self, done, stopped, lead):
        """As long as work takes, as the gate says, and while the listener is far behind."""
        if done >= self.waiting_at:
            self.gate.pass_through(stopped)
        while lead is not None and lead() > MOST_LEAD and not stopped():
            time.sleep(0.001)
        if self.delay:
            time.sleep(self.delay)

    def _chunk(self, samples, seed, done, part, spans, reason, words=""):
        frames, seconds = len(samples) // FRAME, done * FRAME / RATE
        stats = Stats(
            seed, done, seconds, self.startup + seconds * self.rtf, self.first_audio, self.startup, 30, self.peak_memory
        )
        samples = np.append(samples, np.zeros(frames * self.pause * RATE, np.float32))
        codes = np.full((BOOKS, frames), seed % 256, np.int32)
        heard = self.hearings[min(part, len(self.hearings) - 1)] if reason and self.hearings else None
        return AudioChunk(samples, RATE, codes, part, len(spans), spans[part], stats, reason, words, heard, seed + part)
