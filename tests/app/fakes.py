"""A fake studio: an engine that hums, a loudspeaker and a microphone made of numbers. No model, no device, no sleep
longer than a test asks for."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace

import numpy as np

from s2mlx.config import ModelConfig
from s2mlx.errors import AudioError, DeviceError, ModelError
from s2mlx.results import CANCELLED, STOP, AudioChunk, Stats
from s2mlx.voices import Voice, VoiceLibrary

RATE, FRAME = 44100, 2048


@lru_cache
def hum(seconds: float, level: float = 0.3, rate: int = RATE) -> np.ndarray:
    """Something like syllables: float32 [n]."""
    t = np.arange(int(seconds * rate)) / rate
    return (level * np.sin(2 * np.pi * 140 * t) * np.abs(np.sin(2 * np.pi * 1.3 * t))).astype(np.float32)


def a_voice(name: str = "", frames: int = 180) -> Voice:
    codes = np.arange(10 * frames, dtype=np.int32).reshape(10, frames) % 1000
    return Voice(codes, f"The words of {name}.", RATE, 4096, name)


@dataclass
class FakeEngine:
    """Speaks `frames` frames, `per_chunk` at a time, with `delay` seconds before each chunk. Stats are made up from
    `startup` and `rtf`, so that pictures are the same every time. `gate`, when given, is waited for before each
    chunk after the first."""

    frames: int = 40
    per_chunk: int = 4
    delay: float = 0.0
    rtf: float = 0.5
    startup: float = 0.0
    finish: str = STOP
    gate: threading.Semaphore | None = None
    fail: Exception | None = None
    name: str = "Fake S2"
    path: str = "fake.gguf"
    config: ModelConfig = ModelConfig()
    sample_rate: int = RATE
    is_demo: bool = False
    memory: int = 4_630_000_000
    closed: bool = False
    requests: list = field(default_factory=list)
    cloned: list = field(default_factory=list)  # names of the voices made
    clone_gate: threading.Event | None = None
    clone_fail: Exception | None = None

    def stream(self, text, *, voice=None, options=None, cancel=None, lead=None):
        self.requests.append(SimpleNamespace(text=text, voice=voice, options=options, lead=lead))
        seed = 7 if options.seed is None else options.seed
        sound = hum(self.frames * FRAME / RATE)
        halves = [(0, len(text))] if self.frames < 60 else [(0, len(text) // 2), (len(text) // 2, len(text))]
        made = 0
        while made < self.frames:
            if self.gate and made:
                while not self.gate.acquire(timeout=0.01):
                    if cancel.is_set():
                        break
            if self.delay:
                cancel.wait(self.delay)
            if self.fail and made:
                raise self.fail
            count = min(self.per_chunk, self.frames - made)
            part = min(len(halves) - 1, made * len(halves) // self.frames)
            begin, made = made, made + count
            seconds = made * FRAME / RATE
            last = made >= self.frames or (made * len(halves) // self.frames) != part
            stats = Stats(seed, made, seconds, self.startup + seconds * self.rtf, 0.31, 0.2, 60, 5_100_000_000)
            stopped = cancel is not None and cancel.is_set()
            yield AudioChunk(
                sound[begin * FRAME : made * FRAME],
                RATE,
                np.full((10, count), begin, np.int32),
                part,
                len(halves),
                halves[part],
                stats,
                CANCELLED if stopped else self.finish if last else None,
            )
            if stopped:
                return

    def clone(self, clip, transcript, *, name="", cancel=None):
        if self.clone_gate:
            while not self.clone_gate.wait(0.01):
                if cancel.is_set():
                    break
        if self.clone_fail:
            raise self.clone_fail
        samples, rate = clip
        self.cloned.append(name)
        return Voice(np.zeros((10, max(1, len(samples) // FRAME)), np.int32), transcript, RATE, 4096, name)

    def close(self):
        self.closed = True


class FakePlayer:
    """Plays `speed` times faster than real time; speed 0 stays where `position` is put."""

    def __init__(self, speed: float = 30.0):
        self.speed, self.queued, self.stopped, self.finished = speed, 0.0, False, False
        self.underruns, self.error, self._start, self._at = 0, None, None, 0.0
        self.blocks: list[np.ndarray] = []

    @property
    def position(self):
        if not self.speed or self.paused or self._start is None:
            return self._at
        return min(self.queued, (time.monotonic() - self._start) * self.speed)

    @position.setter
    def position(self, seconds):
        self._at = seconds

    @property
    def lead(self):
        return self.queued - self.position

    prebuffer, device_name, paused = 0.5, "Built-in Output", False

    def play(self, samples):
        self._start = self._start or time.monotonic()
        self.queued += len(samples) / RATE
        self.blocks.append(samples)

    def set_rtf(self, rtf, expected_seconds):
        self.rtf, self.expected_seconds = rtf, expected_seconds

    def finish(self):
        self.finished = True

    def pause(self):
        self._at, self.paused = self.position, True

    def resume(self):
        self.paused = False

    def wait(self, timeout=None):
        if not self.stopped and self.position < self.queued:
            time.sleep(min(timeout, 0.005))
        return self.stopped or self.position >= self.queued

    def stop(self):
        self.stopped = True


class FakeRecorder:
    """Hears as much of `sound` as a test says with `hear`; `error` is there once it has heard all of it."""

    silent = False

    def __init__(self, sound, error: Exception | None = None):
        self.sound, self.clipped, self._error, self.seconds, self.stopped = sound, 0, error, 0.0, False

    def hear(self, seconds):
        self.seconds = min(self.seconds + seconds, len(self.sound) / RATE)

    @property
    def error(self):
        return self._error if self.seconds >= len(self.sound) / RATE else None

    @property
    def level(self):
        at = int(self.seconds * RATE)
        block = self.sound[max(0, at - 8192) : at]
        peak = float(np.abs(block).max()) if len(block) else 0.0
        decibels = 20 * math.log10(peak) if peak else -120.0
        return SimpleNamespace(peak=decibels, rms=decibels - 6)

    def start(self):
        self.hear(0.5)

    def recorded(self, begin=0):
        return self.sound[begin : int(self.seconds * RATE)], RATE

    def stop(self):
        self.stopped = True
        return SimpleNamespace(samples=self.sound[: int(self.seconds * RATE)], rate=RATE)


class FakeStudio:
    """Fills `s2mlx_app.engine.protocols.Studio`. Every device it opened is in `players` and `recorders`."""

    def __init__(self, folder, engine: FakeEngine | None = None):
        self.library = VoiceLibrary(folder / "voices")
        self.engine = engine or FakeEngine()
        self.players, self.recorders = [], []
        self.sound = hum(8.0)
        self.play_speed = 30.0
        self.load_gate: threading.Event | None = None
        self.look_gate: threading.Event | None = None  # what looks something up waits for it
        self.load_error: ModelError | None = None
        self.output_error: DeviceError | None = None
        self.input_error: DeviceError | None = None
        self.record_error: DeviceError | None = None
        self.write_error: OSError | None = None
        self.problems: tuple[str, ...] = ()
        self.usable = True
        self.files: dict = {}
        self.more_devices: list = []

    def load(self, model, *, tokenizer, compat, memory_limit, on_progress):
        if self.load_gate:
            while not self.load_gate.wait(0.05):
                on_progress(0.4)
        if self.load_error:
            raise self.load_error
        return self.engine

    def look(self, found):
        if self.look_gate:
            self.look_gate.wait(10)
        return found

    def model_facts(self, model):
        return self.look(f"{model or 'the default model'}: 4.63 GB of weights, about 5.1 GB while it speaks")

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
        self.players.append(FakePlayer(self.play_speed))
        return self.players[-1]

    def open_input(self, rate, device):
        if self.input_error:
            raise self.input_error
        self.recorders.append(FakeRecorder(self.sound, self.record_error))
        return self.recorders[-1]

    def judge_take(self, samples, rate):
        self.look(None)
        return SimpleNamespace(ok=not self.problems, usable=self.usable, problems=self.problems)

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

    def write_audio(self, path, samples, rate):
        if self.write_error:
            raise self.write_error
        path.write_bytes(b"sound")
        self.files[path] = samples

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
