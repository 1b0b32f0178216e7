"""The facade: text and voice in, speech out. Owns the thread that MLX runs on; callable from any other."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .config import ModelConfig
from .errors import UsageError, VoiceError
from .options import Options
from .request.codec_handle import CodecHandle
from .results import CANCELLED, Audio, AudioChunk, Tally, corrected, ended_at_once
from .speech_input import Pieces, SpeechInput, read_here, written
from .text import Span, clean_text, has_words
from .voices.clips import read_clip
from .voices.voice import Voice
from .weights.catalog import FoundModel, find_model
from .worker import AsyncItems, KeepGoing, Results, Worker

if TYPE_CHECKING:
    from .request.engine import Engine
    from .request.listener import Judge

# A voice, the name of a saved or bundled one, or the path of a file; or one for each speaker.
Voices = Voice | str | os.PathLike[str] | Sequence[Voice | str | os.PathLike[str]] | None
Text = str | SpeechInput | Pieces
# The path of a sound file, or samples float32 [n] or [n, channels] and their rate.
Clip = str | os.PathLike[str] | tuple[np.ndarray, float]


def load(
    model: str | Path | None = None,
    *,
    tokenizer: str | Path | None = None,
    compat: str | None = None,
    memory_limit: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    prefix_cache: bool = True,
) -> Synthesizer:
    """Open a model and return the `Synthesizer` that speaks with it.

    model: a GGUF file, a checkpoint folder, `owner/repo[:file]`, a known name, or None for the configured or else the
    bundled one. tokenizer: its tokenizer.json when it is not beside it. compat "s2cpp": the numerics of s2.cpp.
    memory_limit: bytes that weights may take. prefix_cache: what reading a voice has computed is kept in the cache
    folder (at most 1 GB), so that another process need not read it again; what is said is the same.
    on_progress(bytes read, bytes in all) is called on the model's thread; what it raises ends the loading.
    Raises `ModelError`.
    """
    return Synthesizer(
        find_model(model),
        tokenizer=tokenizer,
        compat=compat,
        memory_limit=memory_limit,
        on_progress=on_progress,
        prefix_cache=prefix_cache,
    )


class Synthesizer:
    """A loaded model. Every method may be called from any thread; requests are served one after the other.

    Use as a context manager or `close()` it; one that is forgotten, or open when the program ends, closes itself.
    Not usable in a forked child: load there.
    """

    def __init__(
        self,
        found: FoundModel,
        *,
        tokenizer: str | Path | None = None,
        compat: str | None = None,
        memory_limit: int | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        prefix_cache: bool = True,
    ):
        tokenizer = None if tokenizer is None else Path(tokenizer)

        def open_engine(keep_going: KeepGoing) -> Engine:
            from .request.engine import load_engine  # MLX with it

            return load_engine(found.path, tokenizer, compat, memory_limit, on_progress, keep_going, prefix_cache)

        self.path, self.is_demo = found.path, found.is_demo
        self._worker = Worker()
        # also when the interpreter ends, which must not find the thread inside MLX
        weakref.finalize(self, self._worker.close)
        try:
            self._engine: Engine = self._worker.call(open_engine)
        except BaseException:
            self._worker.close()
            raise
        self.memory = self._engine.memory  # bytes of the weights
        self.codec = CodecHandle(self._worker, self._engine.model)
        self.ear: str | None = None  # who hears the speech of a check, by name (`listen.EARS`); None: one there is

    @property
    def config(self) -> ModelConfig:
        return self._engine.model.config

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def sample_rate(self) -> int:
        return self._engine.model.codec_config.sample_rate

    @property
    def frame_samples(self) -> int:
        """Samples per frame."""
        return self._engine.model.codec_config.frame_samples

    @property
    def num_codebooks(self) -> int:
        return self._engine.model.codec_config.num_codebooks

    def say(
        self,
        text: Text,
        *,
        voice: Voices = None,
        options: Options | None = None,
        on_chunk: Callable[[AudioChunk], None] | None = None,
        cancel: threading.Event | None = None,
        **overrides: Any,
    ) -> Audio:
        """Speak the whole text and return it. `on_chunk` hears of every piece, on the calling thread.

        text: a str, or one that is still being written, as for `stream`. voice: of speaker 0, or of speakers 0, 1, ...:
        a `Voice`, the name of a saved or bundled one, or a path. cancel: set it to stop within one frame. overrides:
        fields of `Options`. Raises `S2Error` kinds; a cancelled request returns what was finished, with that finish
        reason.
        """
        options = (options or Options()).replace(**overrides)
        chunks = []
        for chunk in self.stream(text, voice=voice, options=options, cancel=cancel):
            chunks.append(chunk)
            if on_chunk is not None:
                on_chunk(chunk)
        return self._whole(chunks, options)

    def stream(
        self,
        text: Text,
        *,
        voice: Voices = None,
        options: Options | None = None,
        cancel: threading.Event | None = None,
        lead: Callable[[], float] | None = None,
        **overrides: Any,
    ) -> Iterator[AudioChunk]:
        """Speak the text piece by piece: the first chunk comes after one frame. Same codes as `say` for the same seed.

        text: a str; or an iterable or asynchronous iterable of str, or a `SpeechInput`, of which each sentence is
        spoken when it is complete, while the next ones are being written. lead: called on the model's thread, seconds
        of sound the listener still has; pieces grow with it. Closing the iterator stops generation.
        """
        return self._request(written(text), voice, (options or Options()).replace(**overrides), cancel, lead)

    async def astream(
        self,
        text: Text,
        *,
        voice: Voices = None,
        options: Options | None = None,
        cancel: threading.Event | None = None,
        lead: Callable[[], float] | None = None,
        **overrides: Any,
    ) -> AsyncIterator[AudioChunk]:
        """`stream` for an event loop, which it never blocks. An asynchronous iterable is read in this loop. A cancelled
        task, or one that closes the iterator, stops generation."""
        async with read_here(written(text)) as own:
            voices = await asyncio.to_thread(self._voices, voice)
            options = (options or Options()).replace(**overrides)
            items = AsyncItems(asyncio.get_running_loop())
            results = self._request(own, voices, options, cancel, lead, items)
            try:
                async for chunk in items:
                    yield chunk
            finally:
                results.close()

    def stream_each(
        self,
        texts: Sequence[tuple[str, int]],
        *,
        voice: Voices = None,
        options: Options | None = None,
        cancel: threading.Event | None = None,
        lead: Callable[[], float] | None = None,
        follow: bool = False,
    ) -> Iterator[tuple[int, AudioChunk]]:
        """Speak several texts, each with a seed of its own, in one batch: versions of one text, say. Gives (number of
        the text, chunk) in order; passes are counted through all of them, `span` is of characters of its text.

        follow: they are the parts of one text, as `plan` cuts it: without a voice the first one's is that of all, and
        turns of a dialogue know the earlier ones. Otherwise each is spoken as if it were alone. A seed in `options` is
        of no account. Raises as `stream` does.
        """
        texts, options = list(texts), options or Options()
        if not texts:
            raise UsageError("there is nothing to say: no texts were given")
        voices = self._voices(voice)
        _ = self._engine.model.dual_ar
        open_judge = _judge(self.ear, "\n".join(text for text, _ in texts)) if options.check else None

        def work(keep_going: KeepGoing) -> Iterator[Any]:
            from .request.several import speak_each

            return speak_each(self._engine, texts, voices, options, keep_going, lead, open_judge, follow)

        return self._worker.stream(work, cancel)

    def plan(self, text: str) -> list[Span]:
        """The passes in which a text will be spoken: which characters each says, and whether a pause follows. At once,
        whatever is being spoken. Raises `UsageError` for a text without words."""
        return [Span(*one.span, one.pause_after, one.speaker) for one in self._engine.plan(text)]

    def _request(
        self,
        text: str | SpeechInput,
        voice: Voices,
        options: Options,
        cancel: threading.Event | None,
        lead: Callable[[], float] | None,
        items: AsyncItems | None = None,
    ) -> Results:
        voices = self._voices(voice)
        _ = self._engine.model.dual_ar  # a codec-only file cannot speak: said before the request is queued
        seed = secrets.randbits(32) if options.seed is None else options.seed
        open_judge = _judge(self.ear, text) if options.check else None
        work = lambda keep_going: self._engine.speak(text, voices, options, seed, keep_going, lead, open_judge)
        if isinstance(text, str):
            return self._worker.stream(work, cancel, items=items)
        text.begin()
        try:
            return self._worker.stream(work, cancel, text.leave, items)
        except BaseException:
            text.leave()
            raise

    def _voices(self, voice: Voices) -> list[Voice]:
        given = [] if voice is None else voice if isinstance(voice, (list, tuple)) else [voice]
        voices = [_voice(v) for v in given]
        for v in voices:
            v.check(self.config)
        return voices

    def clone(
        self, clip: Clip, transcript: str | None = None, *, name: str = "", cancel: threading.Event | None = None
    ) -> Voice:
        """A voice from a clip (a path, or samples float32 [n] or [n, channels] and their rate) and its words.

        Without a transcript the words are heard, on this thread, by the recognizer of `listen.find_ear`: the voice's
        `transcript` has them, and a warning says so where they were heard badly. `EarError` if none is installed.
        """
        from .audio.rates import resample

        sound = read_clip(clip)
        if transcript is None:
            from .listen.transcript import heard_words

            transcript = heard_words(*sound)
        transcript = clean_text(transcript).strip() if isinstance(transcript, str) else ""
        if not has_words(transcript):
            raise VoiceError("a clip needs its transcript: the words it speaks")
        samples = resample(*sound, self.sample_rate)
        codes = self.codec.encode(samples, cancel=cancel)
        return Voice(codes, transcript, self.sample_rate, self.config.codebook_size, name)

    def beside(
        self, work: Callable[[KeepGoing], Iterator[Any]], cancel: threading.Event | None = None
    ) -> Iterator[Any]:
        """The items of `work(keep_going)`, a generator function that runs on the model's thread, where other MLX work
        belongs too. It may yield `worker.Aside` to let requests go before it. `keep_going` says no once it is not
        wanted any more."""
        return self._worker.stream(work, cancel)

    def on_engine(
        self, work: Callable[[Engine, KeepGoing], Iterator[Any]], cancel: threading.Event | None = None
    ) -> Results:
        """The items of `work(engine, keep_going)`, a generator that runs on the model's thread: for rooms above."""
        return self._worker.stream(lambda keep_going: work(self._engine, keep_going), cancel)

    def warm_up(self) -> None:
        """Build what the first request would wait for: for programs that load long before they speak. On a GPU the
        Metal kernels, and the weights are brought in, by a few frames that nobody hears; on the CPU its machine code,
        if there is any."""
        from . import device

        if self._engine.model.config.slow is not None:
            self._worker.call(self._engine.warm_up if device.kernels_available() else self._engine.model.build)

    def close(self) -> None:
        """Cancel what runs, refuse what waits, end the thread, free the weights; returns within two seconds, while work
        that cannot be stopped so soon ends by itself."""
        self._worker.close(last=self._engine.release)

    def __enter__(self) -> Synthesizer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _whole(self, chunks: list[AudioChunk], options: Options) -> Audio:
        tally = Tally()
        for chunk in chunks:
            tally.add(chunk)
        if not tally.frames and tally.finish_reason != CANCELLED:
            raise ended_at_once()
        samples = corrected(np.concatenate([c.samples for c in chunks]), self.sample_rate, options)
        codes = np.concatenate([c.codes for c in chunks], axis=1)
        return Audio(samples, self.sample_rate, codes, tally.finish_reason, tally.passes, tally.stats)


def _judge(ear: str | None, text: str | SpeechInput) -> Callable[[], Judge]:
    """Who hears the passes of a request that asks for a check. Raises `EarError` before the request is queued."""
    from .listen import check_ear
    from .request.judging import open_judge

    check_ear(ear)
    return lambda: open_judge(ear, text if isinstance(text, str) else "")


def _voice(voice: object) -> Voice:
    from .voices.library import VoiceLibrary

    if isinstance(voice, Voice):
        return voice
    if isinstance(voice, str):
        return VoiceLibrary().resolve(voice)
    if isinstance(voice, os.PathLike):
        return Voice.load(voice)
    raise UsageError(f"a voice is a Voice, a name or a path, not {type(voice).__name__}")
