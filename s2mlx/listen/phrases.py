"""Where a recording speaks, and how the voice is there: phrases between pauses, their pitch and colour.

Pitch by autocorrelation (Boersma 1993: divided by that of the window); colour is the mean spectrum of voiced frames in
bands, its level aside. Enough to tell a change of voices of unlike pitch or colour; not who speaks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..audio.loudness import SHORT_FRAME, frame_levels
from ..audio.rates import resample

_RATE, _SIZE, _HOP = 8000, 512, 160  # 64 ms every 20 ms
_LOWEST, _HIGHEST = 60, 400  # Hz
_VOICED = 0.5  # of a frame's energy that comes back a period later
_BANDS = 20
_PAUSE, _SHORTEST = 0.15, 0.2  # s
_BLOCK = 4096  # frames at a time


@dataclass(frozen=True)
class Phrase:
    """Speech from `begin` to `end`, seconds. voiced: share of its frames with a pitch; pitch: its median in semitones
    (0 is 1 Hz); colour: float64 [20], decibels of each band about their mean; level: dBFS of its loud moments."""

    begin: float
    end: float
    voiced: float
    pitch: float
    colour: np.ndarray
    level: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


def find_phrases(samples: np.ndarray, rate: int) -> tuple[list[Phrase], float]:
    """float32 [n] -> the phrases in order, and the noise floor in dBFS. Pauses from 0.15 s on part them."""
    levels = frame_levels(samples, rate)
    if not len(levels):
        return [], 0.0
    floor, loud = float(np.percentile(levels, 5)), float(np.percentile(levels, 90))
    above = levels > max(floor + (loud - floor) / 3, loud - 30)
    pitch, spectra = _tracks(resample(samples, rate, _RATE))
    found = []
    for begin, end in _runs(above, round(_PAUSE / SHORT_FRAME)):
        if (end - begin) * SHORT_FRAME < _SHORTEST:
            continue
        part, colours = pitch[begin:end], spectra[begin:end]
        known = np.isfinite(part)
        colour = colours[known].mean(axis=0) if known.any() else np.zeros(_BANDS)
        found.append(
            Phrase(
                begin * SHORT_FRAME,
                end * SHORT_FRAME,
                float(known.mean()) if len(known) else 0.0,
                float(np.median(part[known])) if known.any() else 0.0,
                colour - colour.mean(),
                float(np.percentile(levels[begin:end], 90)),
            )
        )
    return found, floor


def _runs(above: np.ndarray, gap: int) -> list[tuple[int, int]]:
    """[begin, end) of each run of frames, those less than `gap` apart joined."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], above.astype(np.int8), [0]])))
    runs: list[tuple[int, int]] = []
    for begin, end in edges.reshape(-1, 2).tolist():
        if runs and begin - runs[-1][1] < gap:
            runs[-1] = runs[-1][0], end
        else:
            runs.append((begin, end))
    return runs


def _tracks(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At 8 kHz -> semitones, float64 [frames], not a number where unvoiced, and decibels, float64 [frames, bands]."""
    window = np.hanning(_SIZE)
    shape = np.fft.irfft(np.abs(np.fft.rfft(window, 2 * _SIZE)) ** 2)
    least, most = _RATE // _HIGHEST, _RATE // _LOWEST
    padded = np.pad(np.asarray(samples, np.float64), (_SIZE // 2, _SIZE))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _SIZE)[::_HOP]
    edges = np.geomspace(100, 3800, _BANDS + 1) * 2 * _SIZE / _RATE
    starts = np.round(edges).astype(int)[:-1]
    pitch, spectra = [], []
    for at in range(0, len(frames), _BLOCK):
        block = frames[at : at + _BLOCK]
        power = np.abs(np.fft.rfft((block - block.mean(axis=1, keepdims=True)) * window, 2 * _SIZE)) ** 2
        back = np.fft.irfft(power)[:, : most + 1] / np.maximum(shape[: most + 1] / shape[0], 1e-9)
        back /= np.maximum(back[:, :1], 1e-12)
        area = back[:, least:most]
        best = area.max(axis=1)
        peak = (area >= back[:, least - 1 : most - 1]) & (area >= back[:, least + 1 : most + 1])
        first = np.argmax(peak & (area >= 0.9 * best[:, None]), axis=1) + least  # not an octave below
        pitch.append(np.where(best > _VOICED, 12 * np.log2(_RATE / first), np.nan))
        spectra.append(10 * np.log10(np.add.reduceat(power, starts, axis=1) + 1e-9))
    return np.concatenate(pitch), np.concatenate(spectra)
