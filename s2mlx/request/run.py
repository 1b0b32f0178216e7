"""One request served on the worker's thread: passes -> prompts -> frames -> pieces of sound.

Where the voice comes from: the request's references, repeated for every pass so that it does not fade. Without one, the
first pass that leaves room for others becomes the reference of those that follow, so that a long text keeps one voice.
Turns of a dialogue are given the earlier ones as history, newest first, within half of the context, as the official
engine does; what the last turn left in the cache is not computed again. A model that was not trained for that speaks
each turn by itself, in its speaker's voice.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import mlx.core as mx
import numpy as np

from ..audio.stretch import TimeStretch
from ..config import ModelConfig
from ..layers.cache import KVCache
from ..networks.generate import Generation, check_room, generate
from ..networks.generate_batch import generate_batch
from ..networks.load import Model
from ..options import Options
from ..results import CANCELLED, AudioChunk, Stats
from ..text.marks import SPEAKER_TAG, TAG
from ..text.words import has_words
from ..voices.voice import Voice
from ..weights.storage import machine_memory
from .passes import PlannedPass, plan_passes
from .prefix_cache import PrefixCache
from .prompt import Prompt, Turn, build_prompt, frame_columns
from .reference import References
from .schedule import PIECES, Schedule, largest_piece

_PREFIX_BYTES = 512 << 20
_POLL = 0.05  # seconds
_ASCII_WORD = re.compile(r"\b[A-Za-z0-9]+\b")
# Passes at once, if memory allows: the Fast-AR's first step then has 8 rows, which one launch of our kernels takes.
DEFAULT_BATCH = 4
_PASS = 1536  # positions of a pass and its prompt: half a minute of speech in an average voice
COMFORTABLE_LEAD = 4.0  # seconds of sound ahead of the listener
MOST_LEAD = 600.0  # so far ahead, the model waits: a book would fill the memory, and is for nobody once it is stopped


class Engine:
    """What a loaded model needs to serve requests, one at a time."""

    def __init__(self, model: Model):
        self.model = model
        self.prefixes = PrefixCache(_PREFIX_BYTES)
        self.references = References(
            model.config, lambda codes: model.codec.decode(codes)
        )  # a codec that may be absent

    def speak(
        self,
        text: str,
        voices: list[Voice],
        options: Options,
        seed: int,
        keep_going: Callable[[], bool],
        lead: Callable[[], float] | None = None,
    ) -> Iterator[AudioChunk]:
        """The chunks of a request, in order; see `AudioChunk` for what the last one of a pass says."""
        passes = plan_passes(text, self.model.config.pass_seconds, self._can_say)
        voices = [self.references.fit(voice) for voice in voices]
        return _RequestRun(self, voices, options, seed, keep_going, lead, len(passes)).chunks(passes)

    def _can_say(self, words: str) -> bool:
        """Whether anything of a pass is heard; without a word the model would speak those of its voice's clip."""
        tags = self.model.config.tags
        if not has_words(words, tags):
            return False
        words = (SPEAKER_TAG if tags else TAG).sub("", words)
        # A tokenizer may have nothing for whole scripts. For ASCII each has; a book of it need not be read here.
        return _ASCII_WORD.search(words) is not None or bool(self.model.tokenizer.encode(words))

    def warm_up(self, keep_going: Callable[[], bool]) -> None:
        """Every kind of step and every size of piece that speaking takes, once."""
        for _ in self.speak("Hello.", [], Options(max_frames=2, min_frames=2), 0, keep_going):
            pass
        for frames in PIECES:
            if keep_going():
                self.model.codec.stream().decode(np.zeros((self.model.config.num_codebooks, frames), np.int32))

    def release(self) -> None:
        """Let go of the weights and the kept prefixes."""
        self.model.release()
        self.prefixes.clear()


class _RequestRun:
    """The state of one request."""

    def __init__(self, engine: Engine, voices, options, seed, keep_going, lead, parts):
        self.model, self.prefixes = engine.model, engine.prefixes
        self.config: ModelConfig = engine.model.config
        self.codec = engine.model.codec
        self.voices, self.options, self.seed = list(voices), options, seed
        self.keep_going = keep_going if lead is None else lambda: self._wait_for_listener(keep_going)
        self.lead, self.parts = lead, parts
        self.default_batch = default_batch(self.model)
        self.history: list[Turn] = []
        self.seen: tuple[np.ndarray, KVCache] | None = None  # columns of the last turn, and the cache that has them
        self.began = time.perf_counter()
        self.first_audio: float | None = None
        self.prefill_seconds, self.prompt_tokens, self.frames, self.samples = 0.0, 0, 0, 0
        mx.reset_peak_memory()

    def chunks(self, passes: list[PlannedPass]) -> Iterator[AudioChunk]:
        dialogue = any(p.speaker is not None for p in passes)
        while passes:
            if not dialogue and self.voices and len(passes) > 1 and self._width() > 1:
                yield from self._together(passes)
                return
            planned = passes.pop(0)
            spoken = []
            for chunk in self._alone(planned):
                spoken.append(chunk.codes)
                yield chunk
            if chunk.finish_reason == CANCELLED:
                return
            codes = np.concatenate(spoken, axis=1)
            if dialogue and self.config.dialogue:
                self.history.append(Turn(planned.text, codes))
            elif not dialogue and not self.voices and passes and codes.shape[1]:
                self._borrow(planned.text, codes, passes)

    def _borrow(self, text: str, codes: np.ndarray, passes: list[PlannedPass]) -> None:
        """Speak on in this voice, if that leaves half of the context to each pass that follows."""
        voices = [Voice(codes, text, self.codec.config.sample_rate, self.config.codebook_size)]
        longest = max(passes, key=lambda p: len(p.text))
        prompt = build_prompt(self.model.tokenizer, self.config, longest.text, voices)
        if len(prompt) <= self.config.context_length // 2:
            self.voices = voices

    def _alone(self, planned: PlannedPass) -> Iterator[AudioChunk]:
        """One pass after the other: for a dialogue, for the first sound, or where nothing is won by a batch."""
        began = time.perf_counter()
        prompt, limit = self._prompt(planned)
        cache = self._past(prompt)
        piece = _Piece(self, planned)
        if cache is None:
            yield piece.last(CANCELLED)
            return
        columns = [prompt.matrix]
        frames = generate(
            self.model.dual_ar,
            self._request(planned, prompt, limit, cache.offset),
            self._sampling(),
            cache=cache,
            keep_going=self.keep_going,
        )
        for i, frame in enumerate(frames):
            if i == 0:
                self.prefill_seconds += time.perf_counter() - began
            if frame.codes is None:
                yield piece.last(frame.finish_reason)
            else:
                columns.append(frame_columns(frame.codes[:, None], self.config))
                yield from piece.add(frame.codes)
        self.seen = np.concatenate(columns, axis=1), cache

    def _together(self, passes: list[PlannedPass]) -> Iterator[AudioChunk]:
        """Several passes share each read of the weights; what they say is given out in order."""
        began = time.perf_counter()
        prompt, limit = self._prompt(passes[0])
        prefix = self._prefix(prompt)
        self.prefill_seconds += time.perf_counter() - began
        if prefix is None:
            yield _Piece(self, passes[0]).last(CANCELLED)
            return
        begun: deque[tuple[_Piece, deque]] = deque()  # passes and their frames, the first is being given out
        current = 0  # its number

        def requests():  # each when there is room for it: a book has thousands
            for i, planned in enumerate(passes):
                begun.append((_Piece(self, planned), deque()))
                own = (prompt, limit) if i == 0 else self._prompt(planned)
                yield self._request(planned, *own, prompt.reference_end)

        for number, frame in generate_batch(
            self.model.dual_ar,
            requests(),
            self._sampling(),
            cache=prefix.extend,
            width=self._width,
            keep_going=self.keep_going,
        ):
            begun[number - current][1].append(frame)
            while begun and begun[0][1]:
                piece, frames = begun[0]
                frame = frames.popleft()
                if frame.codes is not None:
                    yield from piece.add(frame.codes)
                    continue
                begun.popleft()
                current += 1
                yield piece.last(frame.finish_reason)
                if frame.finish_reason == CANCELLED:
                    yield from self._finished(begun)
                    return
        if begun or current < len(passes):  # cancelled before this pass gave a frame
            yield (begun[0][0] if begun else _Piece(self, passes[current])).last(CANCELLED)

    def _finished(self, begun: Iterable[tuple[_Piece, deque]]) -> Iterator[AudioChunk]:
        """After a cancel, the passes that had ended while an earlier one had not: what is finished is kept. A listener
        has no use for them."""
        for piece, frames in begun if self.lead is None else ():
            if frames and frames[-1].codes is None and frames[-1].finish_reason != CANCELLED:
                for frame in frames:
                    yield from [piece.last(frame.finish_reason)] if frame.codes is None else piece.add(frame.codes)

    def _width(self) -> int:
        """How many passes may run at once. With a listener, one, until a few seconds of sound are ahead: several at
        once are each slower than one alone."""
        most = self.options.batch or self.default_batch
        if self.lead is None:
            return most
        return most if self.first_audio is not None and self.lead() > COMFORTABLE_LEAD else 1

    def _wait_for_listener(self, keep_going: Callable[[], bool]) -> bool:
        """`keep_going()`, asked once the listener is near enough."""
        while (going := keep_going()) and self.lead() > MOST_LEAD:
            time.sleep(_POLL)
            self.began += _POLL  # the model's figures count its own time
        return going

    def _sampling(self):
        return self.options.sampling(self.config.sampling)

    def _request(self, planned: PlannedPass, prompt: Prompt, limit: int, begin: int) -> Generation:
        """What is left to do from column `begin` of the prompt on."""
        self.prompt_tokens += len(prompt)
        own = prompt.matrix[:, begin:].copy()  # a book has thousands: not each with the voice's columns
        return Generation(own, planned.seed(self.seed), limit, min(self.options.min_frames, limit))

    def _prompt(self, planned: PlannedPass) -> tuple[Prompt, int]:
        """The prompt with as much history as leaves half of the context and the frames asked for, and the frame limit.

        What does not fit is forgotten for good: a long dialogue would otherwise be tokenized again and again."""
        context, text, voices = self.config.context_length, planned.text, self.voices
        if not self.config.dialogue:
            speaker = planned.speaker or 0
            text, voices = SPEAKER_TAG.sub("", text).strip(), voices[speaker : speaker + 1]
        room = min(context // 2, context - (self.options.max_frames or 0))
        while True:
            prompt = build_prompt(self.model.tokenizer, self.config, text, voices, self.history)
            if not self.history or len(prompt) <= room:
                asked = self.options.max_frames
                if planned.index and asked is not None:  # what fitted the first pass is cut to fit a longer prompt
                    asked = max(1, min(asked, context - len(prompt)))
                return prompt, check_room(len(prompt), asked, context)
            self.history.pop(0)

    def _past(self, prompt: Prompt) -> KVCache | None:
        """A cache that has seen the beginning of the prompt, for this pass to go on in: the last turn's as far as it
        holds the same columns, or one with the references. None: cancelled."""
        if self.seen is not None and self.config.dialogue:
            columns, cache = self.seen
            length = min(columns.shape[1], cache.offset, len(prompt) - 1)
            differ = np.any(columns[:, :length] != prompt.matrix[:, :length], axis=0)
            same = int(differ.argmax()) if differ.any() else length
            if same > prompt.reference_end:
                cache.rewind(same)
                return cache
        prefix = self._prefix(prompt)
        return None if prefix is None else prefix.fork()

    def _prefix(self, prompt: Prompt) -> KVCache | None:
        """A cache that has seen the prompt up to `reference_end`, not to be written to. The split is the same whether
        or not it was kept, so a cached run computes what a cold one does. None: cancelled."""

        def prefill():
            cache = self.model.dual_ar.new_cache()
            done = self.model.dual_ar.prefill(prompt.matrix[:, : prompt.reference_end], cache, self.keep_going)
            return None if done is None else cache

        return self.prefixes.get(prompt.matrix[:, : prompt.reference_end].tobytes(), prefill)

    def chunk(self, planned: PlannedPass, codes: np.ndarray, samples: np.ndarray, reason: str | None) -> AudioChunk:
        self.frames += codes.shape[1]
        self.samples += len(samples)
        elapsed = time.perf_counter() - self.began
        if self.first_audio is None and len(samples):
            self.first_audio = elapsed
        rate = self.codec.config.sample_rate
        stats = Stats(
            self.seed,
            self.frames,
            self.samples / rate,
            elapsed,
            self.first_audio,
            self.prefill_seconds,
            self.prompt_tokens,
            mx.get_peak_memory(),
        )
        return AudioChunk(samples, rate, codes, planned.index, self.parts, planned.span, stats, reason)


class _Piece:
    """The frames of one pass on their way to sound: waits until a piece is worth a decode."""

    def __init__(self, run: _RequestRun, planned: PlannedPass):
        self.run, self.planned = run, planned
        codec = run.codec.config
        self.stream, self.schedule = run.codec.stream(), Schedule(codec.frame_samples / codec.sample_rate, run.lead)
        self.stretch = TimeStretch(run.options.rate, codec.sample_rate)
        self.waiting: list[np.ndarray] = []

    def add(self, codes: np.ndarray) -> Iterator[AudioChunk]:
        self.waiting.append(codes)
        while frames := self.schedule.take(len(self.waiting)):
            codes = self._take(frames)
            yield self.run.chunk(self.planned, codes, self.stretch.add(self.stream.decode(codes)), None)

    def last(self, reason: str) -> AudioChunk:
        """The end of the pass. Who cancels does not wait for a decode: frames that are no sound yet are dropped."""
        if reason == CANCELLED:
            self.waiting.clear()
        codes, parts = [self._take(0)], [np.zeros(0, np.float32)]
        while self.waiting:
            codes.append(self._take(largest_piece(len(self.waiting))))
            parts.append(self.stretch.add(self.stream.decode(codes[-1])))
        if reason != CANCELLED:
            parts.append(self.stretch.finish())
        codes, samples = np.concatenate(codes, axis=1), np.concatenate(parts)
        if self.planned.pause_after and reason != CANCELLED:
            pause = self.run.codec.config.sample_rate * self.run.options.pause_ms // 1000
            samples = np.concatenate([samples, np.zeros(pause, np.float32)])
        return self.run.chunk(self.planned, codes, samples, reason)

    def _take(self, frames: int) -> np.ndarray:
        codes, self.waiting = self.waiting[:frames], self.waiting[frames:]
        return np.stack(codes, axis=1) if codes else np.zeros((self.run.config.num_codebooks, 0), np.int32)


def default_batch(model: Model) -> int:
    """How many passes to run at once on this machine: as many as half of the memory that the weights leave can hold."""
    spare = (machine_memory() - mx.get_active_memory()) // 2
    return max(1, min(DEFAULT_BATCH, spare // model.dual_ar.kv_bytes(_PASS)))
