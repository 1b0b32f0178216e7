"""How loud samples are, and the two corrections of finished speech: its peak and its silent end.

Samples are float32 [n] in [-1, 1]; levels are dBFS (0 is full scale, silence is FLOOR_DB). Knows no files or devices.
"""

from __future__ import annotations

import numpy as np

FLOOR_DB = -120.0  # what silence reads as, instead of minus infinity
SILENCE_DB = -50.0  # below this a sample counts as silence
_BELOW_SPEECH, _ABOVE_NOISE = 25.0, 6.0  # dB: between the two a frame is speech
_SHORT_PAUSE = 0.4  # s
SHORT_FRAME = 0.02  # s; long enough for a pitch period, short against a syllable


def decibel(amplitude: float) -> float:
    """Amplitude (1.0 is full scale) -> dBFS."""
    return max(FLOOR_DB, 20 * float(np.log10(amplitude))) if amplitude > 0 else FLOOR_DB


def amplitude(db: float) -> float:
    """dBFS -> amplitude."""
    return 10 ** (db / 20)


def peak(samples) -> float:
    """Largest absolute sample; 0 for no samples."""
    return float(np.max(np.abs(samples))) if len(samples) else 0.0


def rms_db(samples) -> float:
    """Root mean square level in dBFS."""
    return decibel(float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))) if len(samples) else FLOOR_DB


def frame_levels(samples, rate: int, seconds: float = SHORT_FRAME) -> np.ndarray:
    """Level in dBFS of consecutive frames, float64 [ceil(n / frame)]; the last one may be short."""
    size = max(1, round(seconds * rate))
    starts = np.arange(0, len(samples), size)
    if not len(starts):
        return np.zeros(0)
    energy = np.add.reduceat(np.square(samples, dtype=np.float64), starts)
    counts = np.diff(np.append(starts, len(samples)))
    return np.maximum(FLOOR_DB, 10 * np.log10(np.maximum(energy / counts, 1e-30)))


def noise_floor_db(samples, rate: int) -> float:
    """Level of the quiet moments: the 10th percentile of short frames (speech always pauses that much)."""
    levels = frame_levels(samples, rate)
    return float(np.percentile(levels, 10)) if len(levels) else FLOOR_DB


def speech_db(samples, rate: int) -> float:
    """Level of the loud moments (90th percentile of short frames), which pauses do not dilute."""
    levels = frame_levels(samples, rate)
    return float(np.percentile(levels, 90)) if len(levels) else FLOOR_DB


def heard_seconds(samples, rate: int) -> float:
    """Seconds of speech in a clip: without the silence around it, and with long pauses counted as short ones."""
    levels = frame_levels(samples, rate)
    if not len(levels):
        return 0.0
    speech = speech_db(samples, rate)
    above = min(max(speech - _BELOW_SPEECH, noise_floor_db(samples, rate) + _ABOVE_NOISE), speech - _ABOVE_NOISE)
    heard = np.flatnonzero(levels > above)
    if not len(heard):
        return 0.0
    frame = len(samples) / rate / len(levels)
    pauses = (np.diff(heard) - 1) * frame
    return float((heard[-1] - heard[0] + 1) * frame - np.maximum(pauses - _SHORT_PAUSE, 0.0).sum())


def peak_normalize(samples, target: float = 0.95) -> np.ndarray:
    """Scale so that the largest absolute sample is `target`; silence stays silence."""
    samples = np.asarray(samples, dtype=np.float32)
    top = peak(samples)
    return samples * np.float32(target / top) if top > 0 else samples


def trim_end(samples, rate: int, keep: float = 0.05, threshold_db: float = SILENCE_DB) -> np.ndarray:
    """Cut what follows the last sample above the threshold, but for `keep` seconds of it.

    Nothing above the threshold: the samples stay as they are (an all-quiet result is not ours to erase).
    """
    loud = np.flatnonzero(np.abs(samples) > amplitude(threshold_db))
    return samples[: loud[-1] + 1 + round(keep * rate)] if len(loud) else samples
