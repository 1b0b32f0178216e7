"""A fake studio: an engine that hums, a loudspeaker and a microphone made of numbers. No model, no device, no sleep
longer than a test asks for."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from s2mlx_app.engine.levels import Levels, peak_db
from s2mlx_app.engine.model_offers import ModelOffer

from s2mlx.errors import AudioError, DeviceError, ModelError
from s2mlx.voices import Voice, VoiceLibrary

from ..fakes import FRAME, RATE, FakePlayer, FakeRecorder, FakeSynthesizer, Gate, Loudspeakers, Microphones


@lru_cache
def hum(seconds: float, level: float = 0.3, rate: int = RATE) -> np.ndarray:
    """Something like syllables: float32 [n]."""
    t = np.arange(int(seconds * rate)) / rate
    return (level * np.sin(2 * np.pi * 140 * t) * np.abs(np.sin(2 * np.pi * 1.3 * t))).astype(np.float32)


def a_voice(name: str = "", frames: int = 180) -> Voice:
    codes = np.arange(10 * frames, dtype=np.int32).reshape(10, frames) % 1000
    return Voice(codes, f"The words of {name}.", RATE, 4096, name)


def an_engine(**knobs) -> FakeSynthesizer:
    """One that hums 40 frames, four at a time, the first four before it minds any gate."""
    hums = dict(frames=40, per_chunk=4, sound=lambda frames: hum(frames * FRAME / RATE), waiting_at=1, first_audio=0.31)
    return FakeSynthesizer(**hums | knobs)


class FakeStudio:
    """Fills `s2mlx_app.engine.protocols.Studio`. Every device it opened is in `players` and `recorders`."""

    @property
    def players(self) -> list[FakePlayer]:
        return self.loudspeakers.made

    @property
    def recorders(self) -> list[FakeRecorder]:
        return self.microphones.made

    def __init__(self, folder, engine: FakeSynthesizer | None = None):
        self.library = VoiceLibrary(folder / "voices")
        self.engine = engine or an_engine()
        self.loudspeakers, self.microphones = Loudspeakers(speed=30.0), Microphones(hum(8.0), looks=0)
        self.load_gate, self.look_gate = Gate(), Gate()  # what looks something up waits for the second
        self.load_error: ModelError | None = None
        self.output_error: DeviceError | None = None
        self.input_error: DeviceError | None = None
        self.write_error: OSError | None = None
        self.watched: list[FakeRecorder] = []  # microphones whose level is looked at
        self.problems: tuple[str, ...] = ()
        self.usable = True
        self.hears = None  # the card's words -> HeardTake
        self.files: dict = {}
        self.more_devices: list = []
        self.offers = [
            ModelOffer("s2-nano", Path("assets/s2-nano.gguf"), 48_000_000, 48_000_000, "Apache-2.0"),
            ModelOffer("s2-pro-f16", None, 9_900_000_000, 10_500_000_000, "Research only."),
            ModelOffer("s2-pro-q4_k_m", None, 3_700_000_000, 4_300_000_000, "Research only."),
            ModelOffer("someone/other:model.gguf", Path("cache/model.gguf"), 1_000_000, 0),
        ]
        self.fetches, self.fetch_gate, self.fetch_error = 10, Gate(), None
        self.direct_gate, self.direct_error, self.directs = Gate(), None, True
        self.revealed: list = []
        self.has_windows = True

    def load(self, model, *, tokenizer, compat, memory_limit, on_progress):
        while not self.load_gate.is_open:
            on_progress(0.4)
            time.sleep(0.01)
        if self.load_error:
            raise self.load_error
        return self.engine

    def look(self, found):
        self.look_gate.pass_through()
        return found

    def model_facts(self, model):
        return self.look(f"{model or 'the default model'}: 4.63 GB of weights, about 5.1 GB while it speaks")

    def model_offers(self):
        return self.look(self.offers)

    def fetch_model(self, name, progress):
        for share in range(self.fetches + 1):
            progress(share, self.fetches)
            self.fetch_gate.pass_through()
        if self.fetch_error:
            raise self.fetch_error
        self.offers = [
            replace(offer, path=Path("cache") / name) if offer.name == name else offer for offer in self.offers
        ]

    def direct(self, text, progress, cancel):
        progress(0, len(text))
        self.direct_gate.pass_through(cancel.is_set)
        if self.direct_error:
            raise self.direct_error
        progress(len(text), len(text))
        return f"[excited] {text}" if self.directs else text

    def memory(self):
        return 16 << 30

    def devices(self):
        return self.look(
            [
                SimpleNamespace(index=0, name="Built-in Output", inputs=0, outputs=2, default_rate=48000.0),
                SimpleNamespace(index=1, name="Built-in Microphone", inputs=1, outputs=0, default_rate=48000.0),
                SimpleNamespace(index=2, name="USB Headset", inputs=1, outputs=2, default_rate=44100.0),
                *self.more_devices,
            ]
        )

    def open_output(self, rate, device, prebuffer):
        if self.output_error:
            raise self.output_error
        return self.loudspeakers(rate, device)

    def open_input(self, rate, device):
        if self.input_error:
            raise self.input_error
        return self.microphones(rate, device)

    def open_level(self, device):
        if self.input_error:
            raise self.input_error
        self.watched.append(Microphones(hum(8.0), looks=0)(RATE, device))
        return self.watched[-1]

    def judge_take(self, samples, rate):
        self.look(None)
        return SimpleNamespace(ok=not self.problems, usable=self.usable, problems=self.problems)

    def hear_take(self, samples, rate, words, language):
        return self.hears(words) if self.hears else None

    def ear_hint(self, language):
        return "" if self.hears else "no recognizer is here"

    def levels(self, samples, rate):
        peak = peak_db(samples)
        return Levels(peak - 3, -60.0, peak)

    def quiet_spans(self, samples, rate):
        return [(0.0, 0.3), (3.0, 4.0), (len(samples) / rate - 0.5, len(samples) / rate)]

    def silence_hint(self):
        return "the microphone gives only zeros"

    def speech_in(self, samples, rate):
        return 0.2, len(samples) / rate - 0.1

    def with_margin(self, samples, rate):
        return samples

    def read_audio(self, path, rate):
        if path not in self.files:
            raise AudioError(f"cannot read {path}")
        return self.look(self.files[path])

    def write_audio(self, path, samples, rate, *, private=False):
        if self.write_error:
            raise self.write_error
        path.write_bytes(b"sound")
        self.files[path] = samples

    @contextmanager
    def open_sound(self, path, rate):
        pieces = []
        yield SimpleNamespace(write=pieces.append)
        self.write_audio(path, np.concatenate(pieces), rate)

    def reveal(self, path):
        self.revealed.append(path)
        return self.has_windows

    def sentences(self, text):
        spans, begin = [], 0
        for index, char in enumerate(text):
            if char in ".!?\n" or index == len(text) - 1:
                spans.append((begin, index + 1))
                begin = index + 1
        return spans

    def estimate_seconds(self, text):
        return len(text) / 15

    def close(self):
        self.closed = True
