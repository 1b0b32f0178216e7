"""A loaded model and what it keeps from one request to the next: prefilled beginnings of prompts, shortened voices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import mlx.core as mx
import numpy as np

from ..networks.generate import Frame
from ..networks.load import Model, load_model
from ..options import DEFAULT_BATCH, Options
from ..results import CANCELLED, AudioChunk
from ..speech_input import SpeechInput
from ..text.marks import SPEAKER_TAG, TAG
from ..text.words import has_words
from ..voices.voice import Voice
from ..weights.storage import machine_memory
from ..worker import Aside, Closed
from .assigned import SilentRun
from .checked import CheckedRun
from .disk_prefixes import DiskPrefixes, disk_prefixes
from .listener import Judge
from .pass_sound import PassSound
from .pass_source import ArrivingPasses, PassSource
from .passes import PlannedPass, plan_passes
from .prefix_cache import PrefixCache
from .reference import References
from .run import RequestRun
from .schedule import PIECES

_PREFIX_BYTES = 512 << 20
_ASCII_WORD = re.compile(r"\b[A-Za-z0-9]+\b")
PASS_POSITIONS = 1536  # of a pass and its prompt: half a minute of speech in an average voice


class Engine:
    """What a loaded model needs to serve requests, one at a time."""

    def __init__(self, model: Model, disk: DiskPrefixes | None = None):
        """disk: where the prefixes of voices are kept from one process to the next."""
        self.model, self.memory = model, mx.get_active_memory() + model.host_bytes
        self.prefixes = PrefixCache(_PREFIX_BYTES, disk)
        # a codec may be absent: it is asked for when there is something to cut
        self.references = References(model.config, lambda codes: model.codec.decode(codes))

    def speak(
        self,
        text: str | SpeechInput | PassSource,
        voices: list[Voice],
        options: Options,
        seed: int,
        keep_going: Callable[[], bool],
        lead: Callable[[], float] | None = None,
        open_judge: Callable[[], Judge] | None = None,
        silent: bool = False,
    ) -> Iterator[AudioChunk | Aside]:
        """The chunks of a request, in order; see `AudioChunk` for what the last one of a pass says. open_judge: who
        hears the passes before they go out, see `Listener`. silent: only codes are wanted. Voices for passes that were
        planned before are as long as they should be."""
        source = text if isinstance(text, PassSource) else self._passes(text)
        try:
            voices = voices if source is text else self.fit(voices)
            kind = RequestRun if open_judge is None else partial(CheckedRun, open_judge=open_judge)
            kind = SilentRun if silent else kind
            run = kind(
                self.model, self.prefixes, voices, options, seed, keep_going, lead, source, default_batch(self.model)
            )
            run.conversation.borrowed = source is text  # a team's voice is not kept for later
            last: AudioChunk | Aside | None = None
            for last in run.chunks():
                yield last
            if isinstance(last, AudioChunk) and last.finish_reason != CANCELLED:
                self.prefixes.settle()
        finally:
            source.leave()

    def fit(self, voices: list[Voice]) -> list[Voice]:
        """The voices, as long as the model takes them."""
        return [self.references.fit(voice) for voice in voices]

    def plan(self, text: str) -> list[PlannedPass]:
        """The passes of a text that is all there."""
        return plan_passes(text, self.model.config.pass_seconds, self._can_say)

    def sound(
        self, planned: PlannedPass, codes: np.ndarray, reason: str, options: Options
    ) -> Iterator[tuple[np.ndarray, np.ndarray, str | None]]:
        """What a pass with these codes, int32 [num_codebooks, frames], gives out when nobody listens: codes, samples
        and, at its end, the reason."""
        piece = PassSound(
            planned, self.model.codec, options, None, lambda planned, *given: given, lambda planned: planned.pause_after
        )
        for frame in codes.T:
            yield from piece.take(Frame(frame, None))
        yield piece.last(reason)

    def _passes(self, text: str | SpeechInput) -> PassSource:
        if isinstance(text, str):
            return PassSource(self.plan(text))
        return ArrivingPasses(text, self.model.config.pass_seconds, self._can_say)

    def _can_say(self, words: str) -> bool:
        """Whether anything of a pass is heard; without a word the model would speak those of its voice's clip."""
        tags = self.model.config.tags
        if not has_words(words, tags):
            return False
        words = (SPEAKER_TAG if tags else TAG).sub("", words)
        # A tokenizer may have nothing for whole scripts. For ASCII each has; a book of it need not be read here.
        return _ASCII_WORD.search(words) is not None or bool(self.model.tokenizer.encode(words))

    def warm_up(self, keep_going: Callable[[], bool]) -> None:
        """Every kind of step, for as many passes at once as there may be, and every size of piece that speaking takes,
        once: nothing is left to be built in the middle of a speech."""
        if keep_going():
            self.model.dual_ar.rehearse(default_batch(self.model))
        if keep_going():
            self.model.codec.rehearse(PIECES)
        for _ in self.speak("Hello.", [], Options(max_frames=2, min_frames=2), 0, keep_going):
            pass
        for frames in PIECES:
            if keep_going():
                self.model.codec.stream().decode(np.zeros((self.model.config.num_codebooks, frames), np.int32))

    def release(self) -> None:
        """Let go of the weights and the kept prefixes."""
        self.model.release()
        self.prefixes.clear()


def load_engine(
    path: Path,
    tokenizer: Path | None,
    compat: str | None,
    memory_limit: int | None,
    on_progress: Callable[[int, int], None] | None,
    keep_going: Callable[[], bool],
    prefix_cache: bool = False,
) -> Engine:
    """The engine of the model at `path`: see `load_model`. `Closed` as soon as `keep_going()` says no. prefix_cache:
    the prefixes of voices are kept on the disk, and taken from there."""

    def progress(done: int, total: int) -> None:
        if not keep_going():
            raise Closed("the model was closed while it was being loaded")
        if on_progress is not None:
            on_progress(done, total)

    model = load_model(path, tokenizer, compat, memory_limit, progress)
    return Engine(model, disk_prefixes(model, tokenizer, compat, memory_limit) if prefix_cache else None)


def default_batch(model: Model) -> int:
    """How many passes to run at once on this machine: as many as half of the memory that the weights leave can hold."""
    spare = (machine_memory() - mx.get_active_memory() - model.host_bytes) // 2
    return max(1, min(DEFAULT_BATCH, spare // model.dual_ar.kv_bytes(PASS_POSITIONS)))
