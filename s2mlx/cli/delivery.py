"""One request from text to its outputs: feeds files and loudspeaker, keeps the figures, survives interrupts."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..errors import S2Error
from ..options import DEFAULT_MAX_FRAMES, Options
from ..results import CANCELLED, LENGTH, AudioChunk, Pass, Tally, corrected, ended_at_once
from ..text import estimate_seconds, most_frames, notes
from . import heard_lines
from .outputs import CodesFile, Destination, open_audio
from .terminal import Console, seconds

if TYPE_CHECKING:
    from ..speech_input import SpeechInput
    from ..synthesizer import Synthesizer
    from ..voices import Voice
    from .playing import PlayedOutput

_OTHER_SEED = "try another --seed, or --min-frames 20"


class Delivery:
    """Collects what is wanted, then `run`s it."""

    def __init__(
        self, tts: Synthesizer, text: str | SpeechInput, voices: list[Voice], options: Options, console: Console
    ):
        self.seed = secrets.randbits(32) if options.seed is None else options.seed  # drawn here: an interrupt tells it
        self.tts, self.text, self.voices, self.console = tts, text, voices, console
        self.options = options.replace(seed=self.seed)
        self.tally = Tally()
        self.speaker: PlayedOutput | None = None
        self.lead: Callable[[], float] | None = None  # seconds of sound that who hears it still has, while it is made
        self._wanted: list[Callable[[], Destination]] = []
        self._paths: dict[str, str] = {}
        self._plays = False
        self._device: str | None = None
        self._part, self._part_frames = -1, 0  # the pass that is being spoken
        self._words: dict[int, str] = {}  # of the passes that ended badly
        self._noted: set[str] = set()
        self.listeners: list[Callable[[AudioChunk], None]] = []  # hear of each chunk
        self.kept_seconds = 0.0  # of sound in the file, when interrupted

    def write_audio(self, path: str, raw: bool, before: np.ndarray | None = None) -> None:
        """before: samples that the file begins with; what is kept of it is then gone on with."""
        self._paths["output"] = path
        self._wanted.append(lambda: open_audio(path, self.tts.sample_rate, raw, before))

    def write_codes(self, path: str) -> None:
        self._paths["codes"] = path
        self._wanted.append(lambda: CodesFile(path))

    def play(self, device: str | None) -> None:
        self._device = device
        self._plays = True

    def run(self) -> None:
        """Generate, write, play. KeyboardInterrupt passes through after what is finished has been kept."""
        sink = _Sink(self._correct if self.options.needs_whole else None)
        try:
            self._open(sink)
            self._generate(sink)
            if not self.tally.frames:
                raise ended_at_once(_OTHER_SEED)
            sink.finish()
        except KeyboardInterrupt:
            sink.keep()
            self.console.clear()
            kept = [output for output in sink.outputs if output.kept_seconds]
            self.kept_seconds = max((output.kept_seconds for output in kept), default=0.0)
            for output in kept:
                self.console.note(f"interrupted; {output.path} holds {seconds(output.kept_seconds)}, seed {self.seed}")
            if not kept and (not self.tally.frames or any(output.lead is None for output in sink.outputs)):
                self.console.note(f"interrupted; nothing was finished, seed {self.seed}")
            raise
        except BaseException as fault:
            of_writer = not isinstance(self.text, str) and fault is self.text.error
            if not (of_writer or (isinstance(fault, S2Error) and fault.keeps_finished)):
                sink.discard()
                raise
            sink.keep()  # what was complete is spoken
            self.console.clear()
            for output in sink.outputs:
                if output.kept_seconds:
                    self.kept_seconds = max(self.kept_seconds, output.kept_seconds)
                    self.console.note(f"{output.path} holds {seconds(output.kept_seconds)}")
            raise
        finally:
            if self.speaker:
                self.speaker.close()
        self._report()

    def _open(self, sink: _Sink) -> None:
        if self._plays:
            from .playing import PlayedOutput

            expected = self._seconds(self.text) if isinstance(self.text, str) else 0.0
            sink.speaker = self.speaker = PlayedOutput(self.tts.sample_rate, self._device, expected, self.console)
        for make in self._wanted:
            sink.outputs.append(make())

    def _generate(self, sink: _Sink) -> None:
        def take(chunk: AudioChunk) -> None:
            self.tally.add(chunk)
            if chunk.heard and not chunk.heard.right:
                self._words.setdefault(chunk.part, chunk.text)
            if chunk.heard and not chunk.finish_reason:  # of a pass that went out before it was heard
                return
            self._look_at(chunk)
            sink.write(chunk)
            for hear in self.listeners:
                hear(chunk)
            if self.speaker and chunk.finish_reason and not isinstance(self.text, str):
                self.speaker.rest()
            self.console.progress(progress_line(self.tally))

        # never `say`, which keeps the whole; without a lead nobody listens, and the engine may batch
        leads = (
            [] if self.options.needs_whole else [one.lead for one in (self.speaker, *sink.outputs) if one and one.lead]
        )
        self.lead = leads[0] if leads else None
        cancel = threading.Event()
        chunks = self.tts.stream(
            self.text, voice=self.voices or None, options=self.options, cancel=cancel, lead=self.lead
        )
        try:
            for chunk in chunks:
                take(chunk)
        except KeyboardInterrupt:
            cancel.set()
            for chunk in chunks:  # of passes generated together some may have ended: they are kept
                sink.write(chunk)
                for hear in self.listeners:
                    hear(chunk)
                if self.listeners and chunk.finish_reason == CANCELLED:
                    break  # what goes on later leaves no gap
            raise

    def _look_at(self, chunk: AudioChunk) -> None:
        """What there is to be said of a pass when it begins, and kept of it when it has ended badly."""
        if chunk.part != self._part:
            self._part, self._part_frames = chunk.part, 0
            if not isinstance(self.text, str):
                for line in notes(chunk.text, self.tts.config):
                    if line not in self._noted:
                        self._noted.add(line)
                        self.console.note(line)
                if self.speaker:
                    self.speaker.expect(self._seconds(chunk.text))
        self._part_frames += chunk.frames
        if chunk.finish_reason == LENGTH or (chunk.finish_reason and not self._part_frames):
            self._words.setdefault(chunk.part, chunk.text)

    def _seconds(self, words: str) -> float:
        return estimate_seconds(words) / self.options.rate

    def _correct(self, samples: np.ndarray) -> np.ndarray:
        return corrected(samples, self.tts.sample_rate, self.options)

    def _report(self) -> None:
        if cut := self.tally.cut:
            where = "" if len(self.tally.passes) == 1 else f" in {len(cut)} of {len(self.tally.passes)} passes"
            limit, advice = self._limit(cut[0])
            self.console.warn(f"{limit}, not the model, ended the speech{where}; {advice}")
        if silent := [p for p in self.tally.passes if not p.frames]:
            where = " and ".join(repr(self._words[p.index].strip()[:40]) for p in silent[:2])
            self.console.warn(
                f"the model said nothing for {len(silent)} of {len(self.tally.passes)} passes "
                f"({where} ...); {_OTHER_SEED}"
            )
        if self.speaker and (gaps := self.speaker.underruns):
            self.console.warn(f"the sound stopped {'once' if gaps == 1 else f'{gaps} times'} to wait for the model")
        for line in heard_lines.remarks(self.tally, self._words):
            self.console.warn(line)
        if self.options.check and (unheard := heard_lines.unheard(self.tally)):
            self.console.warn(
                f"{unheard} of {len(self.tally.passes)} passes were not checked: "
                "no recognizer here knows their language"
            )
        where = f" -> {self._paths['output']}" if "output" in self._paths else ""
        heard = heard_lines.summary(self.tally)
        self.console.summary(f"{progress_line(self.tally)}, seed {self.tally.stats.seed}{heard}{where}")

    def _limit(self, cut: Pass) -> tuple[str, str]:
        """What ended a pass that the model did not end, and what to do about it."""
        words = self._words[cut.index]
        by_length = max(most_frames(words, self.tts.frame_samples / self.tts.sample_rate), self.options.min_frames)
        most = self.options.max_frames or min(by_length, DEFAULT_MAX_FRAMES)
        if cut.frames < most:
            return "the end of the model's context", "split the text or use a shorter reference"
        if self.options.max_frames or most == DEFAULT_MAX_FRAMES:
            return f"the limit of {most} frames", "raise it with --max-frames"
        return (
            f"the limit of {most} frames for words that take about {seconds(estimate_seconds(words))}",
            "try another --seed, or raise it with --max-frames",
        )

    def print_json(self, voice: list[str], load_seconds: float, on_stderr: bool) -> None:
        """voice: names as the user gave them."""
        stream = sys.stderr if on_stderr else sys.stdout
        figures = {
            "model": self.tts.name,
            "model_path": str(self.tts.path),
            "voice": voice,
            "text_characters": len(self.text) if isinstance(self.text, str) else self.text.characters,
            **_as_dict(self.tally, self.options.check),
            "load_seconds": load_seconds,
            "played": self.speaker is not None,
            "underruns": self.speaker.underruns if self.speaker else 0,
            "output": self._paths.get("output"),
            "codes": self._paths.get("codes"),
        }
        print(json.dumps(figures), file=stream, flush=True)


class _Sink:
    """Fans pieces out to the outputs and the speaker. With post-processing it waits for the whole first."""

    def __init__(self, post: Callable[[np.ndarray], np.ndarray] | None):
        self.outputs: list[Destination] = []
        self.speaker: PlayedOutput | None = None
        self._post = post
        self._done: list[tuple[np.ndarray, np.ndarray]] = []  # (samples, codes) waiting for post-processing
        self._pass: list[tuple[np.ndarray, np.ndarray]] = []

    def write(self, chunk: AudioChunk) -> None:
        ended = chunk.finish_reason not in (None, CANCELLED)
        if self._post:
            self._pass.append((chunk.samples, chunk.codes))
            if ended:
                self._done += self._pass
            if chunk.finish_reason:
                self._pass = []
            return
        if self.speaker:
            self.speaker.write(chunk.samples, chunk.stats)
        for output in self.outputs:
            output.write(chunk.samples, chunk.codes, ended)
            if chunk.finish_reason == CANCELLED:
                output.drop()

    def finish(self) -> None:
        whole = self._flush()
        for output in self.outputs:
            output.finish()
        if self.speaker:
            if whole is not None:
                self.speaker.write(whole, None)
            self.speaker.finish()

    def keep(self) -> None:
        if self.speaker:
            self.speaker.stop()
        self._flush()
        for output in self.outputs:
            output.keep()

    def discard(self) -> None:
        if self.speaker:
            self.speaker.stop()
        for output in self.outputs:
            output.discard()

    def _flush(self) -> np.ndarray | None:
        """Post-process the passes that ended and hand them to the outputs; the samples, if there are any."""
        if not self._done or self._post is None:
            return None
        samples = self._post(np.concatenate([samples for samples, _ in self._done]))
        codes = np.concatenate([codes for _, codes in self._done], axis=1)
        self._done = []
        for output in self.outputs:
            output.write(samples, codes, True)
        return samples


def progress_line(tally: Tally) -> str:
    """What a request has cost and given so far, for people."""
    stats = tally.stats
    parts = [f"{tally.frames} frames", f"{seconds(tally.seconds)} of audio"]
    if stats.rtf is not None:
        parts.append(f"real-time factor {stats.rtf:.2f}")
    if stats.first_audio is not None:
        parts.append(f"first audio after {stats.first_audio:.2f} s")
    return ", ".join(parts)


def _as_dict(tally: Tally, checked: bool) -> dict[str, object]:
    """The same for programs."""
    stats = tally.stats
    return {
        "seed": stats.seed,
        "frames": tally.frames,
        "seconds": round(tally.seconds, 3),
        "finish_reason": tally.finish_reason,
        "passes": [
            {
                "frames": one.frames,
                "seconds": round(one.seconds, 3),
                "finish_reason": one.finish_reason,
                "text": list(one.span),
                **(heard_lines.as_dict(one) if checked else {}),
            }
            for one in tally.passes
        ],
        "time_to_first_audio": stats.first_audio,
        "rtf": stats.rtf,
        "wall_seconds": stats.elapsed,
        "prefill_seconds": stats.prefill_seconds,
        "prompt_tokens": stats.prompt_tokens,
        "peak_memory": stats.peak_memory,
    }
