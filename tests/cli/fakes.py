"""A synthesizer without a model and devices without sound, for tests of the command alone."""

import time

import numpy as np

from s2mlx.config import ModelConfig
from s2mlx.errors import ModelError
from s2mlx.results import Audio, AudioChunk, Pass, Stats
from s2mlx.voices import Voice

RATE, FRAME, BOOKS = 44100, 2048, 10


class FakeCodec:
    def encode(self, samples, cancel=None):
        frames = -(-len(samples) // FRAME)
        return np.tile(np.arange(frames, dtype=np.int32), (BOOKS, 1))

    def decode(self, codes, chunk=None):
        self.chunk = chunk
        return np.full(codes.shape[1] * FRAME, 0.25, np.float32)


class FakeSynthesizer:
    """Every sentence of the text is a pass of `frames` frames; code values are the seed, samples a tone.

    finish: reason of each pass. fail_at, interrupt_at: frame that raises. slow: seconds a frame takes.
    """

    name, path, memory = "Fake S2", "/models/fake.gguf", 123
    sample_rate, frame_samples, num_codebooks = RATE, FRAME, BOOKS
    config = ModelConfig(name="Fake S2")

    def __init__(self, *, frames=3, finish="stop", fail_at=None, interrupt_at=None, slow=0.0, is_demo=False):
        self.frames, self.finish, self.slow, self.is_demo = frames, finish, slow, is_demo
        self.fail_at, self.interrupt_at = fail_at, interrupt_at
        self.codec = FakeCodec()
        self.calls, self.cloned, self.closed = [], [], False

    def stream(self, text, *, voice=None, options=None, cancel=None, lead=None):
        self.calls.append({"how": "stream", "text": text, "voice": voice, "options": options, "lead": lead})
        yield from self._chunks(text, options)

    def say(self, text, *, voice=None, options=None, on_chunk=None, cancel=None):
        self.calls.append({"how": "say", "text": text, "voice": voice, "options": options})
        chunks = []
        for chunk in self._chunks(text, options):
            chunks.append(chunk)
            if on_chunk:
                on_chunk(chunk)
        passes = [Pass(c.part, c.span, self.frames, self.finish) for c in chunks if c.finish_reason]
        return Audio(
            np.concatenate([c.samples for c in chunks]),
            RATE,
            np.concatenate([c.codes for c in chunks], axis=1),
            self.finish,
            passes,
            chunks[-1].stats,
        )

    def clone(self, clip, transcript, *, name="", cancel=None):
        self.cloned.append((clip, transcript))
        return Voice(np.zeros((BOOKS, 5), np.int32), transcript, name=name)

    def _chunks(self, text, options):
        seed = 7 if options.seed is None else options.seed
        ends = [i + 1 for i, c in enumerate(text) if c == "."] or [len(text)]
        ends[-1] = len(text)
        spans = list(zip([0, *ends], ends))
        made = 0
        for part, span in enumerate(spans):
            for frame in range(self.frames):
                if self.slow:
                    time.sleep(self.slow)
                if made == self.fail_at:
                    raise ModelError("the fake model failed")
                if made == self.interrupt_at:
                    raise KeyboardInterrupt
                made += 1
                seconds = made * FRAME / RATE
                samples, codes = np.full(FRAME, 0.25, np.float32), np.full((BOOKS, 1), seed % 256, np.int32)
                yield AudioChunk(
                    samples,
                    RATE,
                    codes,
                    part,
                    len(spans),
                    span,
                    Stats(seed, made, seconds, seconds / 2, 0.02, 0.01, 30, 1000),
                    self.finish if frame == self.frames - 1 else None,
                )
        if not self.frames:
            yield AudioChunk(
                np.zeros(0, np.float32), RATE, np.zeros((BOOKS, 0), np.int32), 0, 1, spans[0], Stats(seed), self.finish
            )

    def close(self):
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class FakePlayer:
    """Plays at once into `heard`. `breaks`: an error the device reports; nothing is heard then."""

    made = []
    breaks = None

    def __init__(self, rate, device=None):
        self.rate, self.device, self.error = rate, device, self.breaks
        self.heard, self.finished, self.stopped, self.closed = [], False, False, False
        self.underruns, self.lead, self.position = 0, 0.0, 0.0
        self.rtf = None
        FakePlayer.made.append(self)

    def play(self, samples):
        assert not self.stopped
        self.heard.append(samples)

    def set_rtf(self, rtf, expected_seconds=None):
        self.rtf = (rtf, expected_seconds)

    def finish(self):
        self.finished = True

    def wait(self, timeout=None):
        return self.error is None

    def unheard(self):
        return np.concatenate(self.heard)

    def stop(self):
        self.stopped = True

    def close(self):
        self.closed = True
