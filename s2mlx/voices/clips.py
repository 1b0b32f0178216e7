"""Reference clips as they come, from a file or a program: checked, mixed to mono, at their own rate."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..errors import AudioError

LONGEST_CLIP = 60.0  # seconds; a reference is best at 5 to 30


def read_clip(clip: Any) -> tuple[np.ndarray, float]:
    """A path, or (samples float32 [n] or [n, channels], their rate) -> (samples float32 [n] mono, their rate).

    It is read once and not resampled: the rate of the model that is to hear it need not be known yet. Raises
    `AudioError` for what is no clip, and for one of more than a minute.
    """
    from ..audio import read_sound

    samples, rate = read_sound(clip) if isinstance(clip, (str, os.PathLike)) else _given(clip)
    if len(samples) > LONGEST_CLIP * rate:
        raise AudioError(
            f"the clip has {len(samples) / rate:.0f} seconds; a reference is 5 to 30, "
            f"at most {LONGEST_CLIP:.0f}: cut it"
        )
    return samples, rate


def _given(clip: Any) -> tuple[np.ndarray, float]:
    """Samples from a program, checked and mixed to mono, and their rate."""
    try:
        samples, rate = clip
        samples, rate = np.asarray(samples, np.float32), float(rate)
    except (TypeError, ValueError):
        raise AudioError("a clip is a path, or (samples as float32 [n] or [n, channels], their rate)") from None
    if samples.ndim not in (1, 2) or 0 in samples.shape or samples.ndim == 2 and samples.shape[1] > 64:
        raise AudioError(f"the samples of a clip have the shape [n] or [n, channels], not {list(samples.shape)}")
    if not np.isfinite(samples).all():
        raise AudioError("the clip holds values that are not numbers (NaN or infinity)")
    if not 1000 <= rate <= 768_000:
        raise AudioError(f"a clip of {rate:g} samples a second is not sound; 8000 to 48000 is usual")
    return samples if samples.ndim == 1 else samples.mean(axis=1), rate
