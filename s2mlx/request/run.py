"""One request served on the worker's thread: passes -> prompts -> frames -> pieces of sound.

Where the voice comes from: the request's references, repeated for every pass so that it does not fade. Without one, the
first pass that leaves room for others becomes the reference of those that follow, so that a long text keeps one voice.
Turns of a dialogue are given the earlier ones as history, newest first, within half of the context, as the official
engine does; what the last turn left in the cache is not computed again. A model that was not trained for that speaks
each turn by itself, in its speaker's voice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator

import mlx.core as mx
import numpy as np

from ..layers.cache import KVCache
from ..networks.generate import Frame, Generation, generate
from ..networks.generate_batch import generate_batch
from ..networks.load import Model
from ..options import Options, Sampling
from ..results import CANCELLED, AudioChunk, Hearing, Stats
from ..voices.voice import Voice
from ..worker import POLL, Aside
from .conversation import Conversation
from .pass_sound import PassSound
from .pass_source import PassSource
from .passes import PlannedPass
from .prefix_cache import PrefixCache
from .prompt import Prompt, frame_columns

COMFORTABLE_LEAD = 4.0  # seconds of sound ahead of the listener
MOST_LEAD = 600.0  # so far ahead, the model waits: a book would fill the memory, and is for nobody once it is stopped


class RequestRun:
    """The state of one request."""

    def __init__(
        self,
        model: Model,
        prefixes: PrefixCache,
        voices: list[Voice],
        options: Options,
        seed: int,
        keep_going: Callable[[], bool],
        lead: Callable[[], float] | None,
        source: PassSource,
        default_batch: int,
    ):
        self.model, self.prefixes, self.config, self.codec = model, prefixes, model.config, model.codec
        self.options, self.seed, self.source, self.default_batch = options, seed, source, default_batch
        self.conversation = Conversation(model, voices, options)
        self.lead, self._wanted = lead, keep_going
        self.seen: tuple[np.ndarray, KVCache] | None = None  # columns of the last turn, and the cache that has them
        self.began = time.perf_counter()
        self.first_audio: float | None = None
        self.prefill_seconds, self.prompt_tokens, self.frames, self.samples = 0.0, 0, 0, 0
        mx.reset_peak_memory()

    def chunks(self) -> Iterator[AudioChunk | Aside]:
        """All of the request; an `Aside` while its text is still being written."""
        source, borrowed = self.source, None
        while True:
            while (wait := source.hurry()) is not None:
                yield from self._aside(wait)
                if not self._wanted():
                    yield self._nothing_more()
                    return
            if not source.known:
                return
            if borrowed and not source.dialogue:
                self.conversation.borrow_voice(*borrowed, list(source.known))
            borrowed = None
            if not source.dialogue and self.conversation.voices and self._at_once():
                if (yield from self._together()):
                    continue
                return
            planned = source.known.popleft()
            spoken, reason = [], None
            for chunk in self._alone(planned):
                spoken.append(chunk.codes)
                reason = chunk.finish_reason or reason
                yield chunk
            if reason == CANCELLED:
                return
            codes = np.concatenate(spoken, axis=1)
            if source.dialogue and self.config.dialogue:
                self.conversation.remember(planned.text, codes)
            elif not source.dialogue and not self.conversation.voices and codes.shape[1]:
                borrowed = planned.text, codes  # of the pass that follows, if one does

    def _aside(self, wait: Aside) -> Iterator[Aside]:
        began = time.perf_counter()
        yield wait
        self.began += time.perf_counter() - began  # the model's figures count its own time

    def _nothing_more(self) -> AudioChunk:
        """Cancelled while there was nothing to speak."""
        place = self.source.place
        planned = PlannedPass(self.source.parts, "", (place, place), False, None)
        return self._sound(planned).last(CANCELLED)

    def _at_once(self) -> bool:
        """Is anything won by speaking the passes that are known, which do not need each other, together?"""
        return len(self.source.known) > 1 and self.width() > 1

    def _alone(self, planned: PlannedPass) -> Iterator[AudioChunk]:
        """One pass after the other: for a dialogue, for the first sound, or where nothing is won by a batch."""
        piece = self._sound(planned)
        for frame in self._frames(planned):
            yield from piece.take(frame)

    def _frames(self, planned: PlannedPass) -> Iterator[Frame]:
        """A pass alone, and its end."""
        began = time.perf_counter()
        prompt, limit = self.conversation.prompt(planned)
        cache = self._past(prompt)
        if cache is None:
            yield Frame(None, CANCELLED)
            return
        self.seen = None  # if it is that one, it is written to from here on, to the end or not
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
            if frame.codes is not None:
                columns.append(frame_columns(frame.codes[:, None], self.config))
            yield frame
        self.seen = np.concatenate(columns, axis=1), cache

    def _together(self) -> Generator[AudioChunk, None, bool]:
        """Several passes share each read of the weights; what they say is given out in order. False: cancelled."""
        began = time.perf_counter()
        known = self.source.known
        prompt, limit = self.conversation.prompt(known[0])
        prefix = self._prefix(prompt)
        self.prefill_seconds += time.perf_counter() - began
        if prefix is None:
            yield self._sound(known[0]).last(CANCELLED)
            return False
        # passes and their frames, the first is being given out
        begun: deque[tuple[PassSound[AudioChunk], deque[Frame]]] = deque()
        current = 0  # its number

        def requests() -> Iterator[Generation]:  # each when there is room for it: a book has thousands
            first = True
            while known:
                planned = known.popleft()
                begun.append((self._sound(planned), deque()))
                own = (prompt, limit) if first else self.conversation.prompt(planned)
                first = False
                yield self._request(planned, *own, prompt.reference_end)
                self.source.look()
                if self.source.dialogue:  # its first speaker: what follows is spoken turn by turn
                    return

        for number, frame in generate_batch(
            self.model.dual_ar,
            requests(),
            self._sampling(),
            cache=prefix.extend,
            width=self.width,
            keep_going=self.keep_going,
        ):
            begun[number - current][1].append(frame)
            while begun and begun[0][1]:
                piece, frames = begun[0]
                frame = frames.popleft()
                yield from piece.take(frame)
                if frame.codes is None:
                    begun.popleft()
                    current += 1
                if frame.finish_reason == CANCELLED:
                    yield from self._finished(begun)
                    return False
        if begun:  # cancelled before this pass gave a frame
            yield begun[0][0].last(CANCELLED)
        return not begun

    def _finished(self, begun: Iterable[tuple[PassSound[AudioChunk], deque[Frame]]]) -> Iterator[AudioChunk]:
        """After a cancel, the passes that had ended while an earlier one had not: what is finished is kept. A listener
        has no use for them."""
        for piece, frames in begun if self.lead is None else ():
            if frames and frames[-1].codes is None and frames[-1].finish_reason != CANCELLED:
                for frame in frames:
                    yield from piece.take(frame)

    def width(self) -> int:
        """How many passes may run at once. With a listener, one, until a few seconds of sound are ahead: several at
        once are each slower than one alone."""
        most = self.options.batch or self.default_batch
        if self.lead is None:
            return most
        return most if self.first_audio is not None and self.lead() > COMFORTABLE_LEAD else 1

    def keep_going(self) -> bool:
        """Does the caller still want it? Asked once a listener is near enough."""
        while (going := self._wanted()) and self.lead is not None and self.lead() > MOST_LEAD:
            time.sleep(POLL)
            self.began += POLL  # the model's figures count its own time
        return going

    def _sound(self, planned: PlannedPass) -> PassSound[AudioChunk]:
        return PassSound(planned, self.codec, self.options, self.lead, self.chunk, self.source.pause_after)

    def _sampling(self) -> Sampling:
        return self.options.sampling(self.config.sampling)

    def _request(self, planned: PlannedPass, prompt: Prompt, limit: int, begin: int) -> Generation:
        """What is left to do from column `begin` of the prompt on."""
        self.prompt_tokens += len(prompt)
        own = prompt.matrix[:, begin:].copy()  # a book has thousands: not each with the voice's columns
        return Generation(own, planned.seed(self.seed), limit, min(self.options.min_frames, limit))

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

        def prefill() -> KVCache | None:
            cache = self.model.dual_ar.new_cache()
            done = self.model.dual_ar.prefill(prompt.matrix[:, : prompt.reference_end], cache, self.keep_going)
            return None if done is None else cache

        about = self.conversation.references()
        return self.prefixes.get(prompt.matrix[:, : prompt.reference_end].tobytes(), prefill, about)

    def chunk(
        self,
        planned: PlannedPass,
        codes: np.ndarray,
        samples: np.ndarray,
        reason: str | None,
        heard: Hearing | None = None,
    ) -> AudioChunk:
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
            mx.get_peak_memory() + self.model.host_bytes,
        )
        return AudioChunk(
            samples,
            rate,
            codes,
            planned.index,
            self.source.parts,
            planned.span,
            stats,
            reason,
            planned.text,
            heard,
            planned.seed(self.seed),
        )
