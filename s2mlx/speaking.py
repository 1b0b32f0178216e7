"""One request served on the worker's thread: passes -> prompts -> frames -> pieces of sound.

Where the voice comes from: the request's references, repeated for every pass so that it does not fade. Without one, the
first pass becomes the reference of those that follow, so that a long text keeps one voice. Turns of a dialogue are given
the earlier ones as history, newest first, within half of the context, as the official engine does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import mlx.core as mx
import numpy as np

from .config import ModelConfig
from .errors import GenerationError
from .generate import Request, check_room, generate
from .model import Model
from .options import Options
from .passes import PlannedPass, plan_passes
from .prefix_cache import PrefixCache
from .prompt import Prompt, Turn, build_prompt
from .schedule import Schedule
from .speech import CANCELLED, AudioChunk, Stats
from .voice import Voice

_PREFIX_BYTES = 512 << 20


class Speaking:
    """What a loaded model needs to serve requests, one at a time."""

    def __init__(self, model: Model):
        self.model = model
        self.prefixes = PrefixCache(_PREFIX_BYTES)

    def speak(self, text: str, voices: list[Voice], options: Options, seed: int, keep_going: Callable[[], bool],
              lead: Callable[[], float] | None = None) -> Iterator[AudioChunk]:
        """The chunks of a request, in order; see `AudioChunk` for what the last one of a pass says."""
        return _Run(self, voices, options, seed, keep_going, lead).chunks(plan_passes(text))


class _Run:
    """The state of one request."""

    def __init__(self, speaking: Speaking, voices, options, seed, keep_going, lead):
        self.model, self.prefixes = speaking.model, speaking.prefixes
        self.config: ModelConfig = speaking.model.config
        self.codec = speaking.model.codec
        self.voices, self.options, self.seed = list(voices), options, seed
        self.keep_going, self.lead = keep_going, lead
        self.history: list[Turn] = []
        self.began = time.perf_counter()
        self.first_audio: float | None = None
        self.prefill_seconds, self.prompt_tokens, self.frames, self.samples = 0.0, 0, 0, 0
        mx.reset_peak_memory()

    def chunks(self, passes: list[PlannedPass]) -> Iterator[AudioChunk]:
        dialogue = any(p.speaker is not None for p in passes)
        for planned in passes:
            spoken = []
            for chunk in self._pass(planned, len(passes)):
                spoken.append(chunk.codes)
                yield chunk
            if chunk.finish_reason == CANCELLED:
                return
            codes = np.concatenate(spoken, axis=1)
            if dialogue:
                self.history.append(Turn(planned.text, codes))
            elif not self.voices and len(passes) > 1 and codes.shape[1]:
                self.voices = [Voice(codes, planned.text, self.codec.config.sample_rate, self.config.codebook_size)]

    def _pass(self, planned: PlannedPass, parts: int) -> Iterator[AudioChunk]:
        began = time.perf_counter()
        prompt, limit = self._prompt(planned)
        cache = self._prefix(prompt)
        self.prompt_tokens += len(prompt)
        piece = lambda codes, samples, reason=None: self._chunk(planned, parts, codes, samples, reason)
        if cache is None:
            yield piece(self._no_codes(), np.zeros(0, np.float32), CANCELLED)
            return
        stream = self.codec.stream()
        schedule = Schedule(self.codec.config.frame_samples / self.codec.config.sample_rate, self.lead)
        request = Request(prompt.matrix[:, prompt.reference_end :], planned.seed(self.seed), limit,
                          min(self.options.min_frames, limit))
        waiting: list[np.ndarray] = []
        prefilled = False
        for frame in generate(self.model.dual_ar, request, self.options.sampling(self.config.sampling), cache=cache,
                              keep_going=self.keep_going):
            if not prefilled:
                self.prefill_seconds += time.perf_counter() - began
                prefilled = True
            if frame.codes is not None:
                waiting.append(frame.codes)
                if schedule.due(len(waiting)):
                    codes = np.stack(waiting, axis=1)
                    schedule.sent(len(waiting))
                    waiting = []
                    yield piece(codes, stream.decode(codes))
        codes = np.stack(waiting, axis=1) if waiting else self._no_codes()
        samples = stream.decode(codes)
        if planned.pause_after and frame.finish_reason != CANCELLED:
            samples = np.concatenate([samples, self._pause()])
        yield piece(codes, samples, frame.finish_reason)

    def _prompt(self, planned: PlannedPass) -> tuple[Prompt, int]:
        """The prompt with as much history as leaves half of the context, and the frame limit."""
        context, history = self.config.context_length, list(self.history)
        while True:
            prompt = build_prompt(self.model.tokenizer, self.config, planned.text, self.voices, history)
            if not history or len(prompt) <= context // 2:
                return prompt, check_room(len(prompt), self.options.max_frames, context)
            history.pop(0)

    def _prefix(self, prompt: Prompt):
        """A cache that has seen the prompt up to `reference_end`. The split is the same whether or not it was kept, so a
        cached run computes what a cold one does."""

        def prefill():
            cache = self.model.dual_ar.slow.new_cache()
            done = self.model.dual_ar.prefill(prompt.matrix[:, : prompt.reference_end], cache, self.keep_going)
            return None if done is None else cache

        return self.prefixes.fork(prompt.matrix[:, : prompt.reference_end].tobytes(), prefill)

    def _chunk(self, planned: PlannedPass, parts: int, codes: np.ndarray, samples: np.ndarray, reason) -> AudioChunk:
        self.frames += codes.shape[1]
        self.samples += len(samples)
        elapsed = time.perf_counter() - self.began
        if self.first_audio is None and len(samples):
            self.first_audio = elapsed
        rate = self.codec.config.sample_rate
        stats = Stats(self.seed, self.frames, self.samples / rate, elapsed, self.first_audio, self.prefill_seconds,
                      self.prompt_tokens, mx.get_peak_memory())
        return AudioChunk(samples, rate, codes, planned.index, parts, planned.span, stats, reason)

    def _pause(self) -> np.ndarray:
        return np.zeros(self.codec.config.sample_rate * self.options.pause_ms // 1000, np.float32)

    def _no_codes(self) -> np.ndarray:
        return np.zeros((self.config.num_codebooks, 0), np.int32)


def worst(reasons: list[str]) -> str:
    """The finish reason of a whole: cancelled, then length, then stop."""
    if not reasons:
        raise GenerationError("nothing was generated")
    order = ("cancelled", "length", "stop")
    return min(reasons, key=order.index)
