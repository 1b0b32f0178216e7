"""The knobs of one request, and nothing of how it is served."""

from __future__ import annotations

import dataclasses
import operator
from dataclasses import dataclass

from .errors import UsageError

DEFAULT_MAX_FRAMES = 1024


@dataclass(frozen=True)
class Sampling:
    """Sampling defaults of a model. S2 Pro has no recommendation of its own in the file; these are the usual ones."""

    temperature: float = 0.8
    top_p: float = 0.8
    top_k: int = 30


_WHOLE, _REAL = (operator.index, "a whole number"), (float, "a number")
_NUMBERS = {
    "temperature": _REAL,
    "top_p": _REAL,
    "top_k": _WHOLE,
    "seed": _WHOLE,
    "max_frames": _WHOLE,
    "min_frames": _WHOLE,
    "pause_ms": _WHOLE,
    "batch": _WHOLE,
}


@dataclass(frozen=True)
class Options:
    """How to speak.

    temperature, top_p, top_k: None takes the model's own default (`Sampling`). temperature 0 is argmax; top_k 0 is off.
    seed: None draws one; the seed used is reported in the result.
    max_frames, min_frames: per pass; one frame is 46 ms of speech. None allows 1024, or as many as the context holds.
    pause_ms: silence between passes of a long text.
    trim, normalize: cut trailing silence, scale the peak to 0.95 (whole results only, never a stream).
    batch: passes that share one read of the weights when nobody listens; None lets the machine decide.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    max_frames: int | None = None
    min_frames: int = 0
    pause_ms: int = 250
    trim: bool = False
    normalize: bool = False
    batch: int | None = None

    def __post_init__(self):
        def need(ok, name, rule):
            if not ok:
                raise UsageError(f"{name} must be {rule}, not {getattr(self, name)!r}")

        for name, (convert, kind) in _NUMBERS.items():
            value = getattr(self, name)
            try:
                if value is not None or name in ("min_frames", "pause_ms"):
                    object.__setattr__(self, name, convert(value))  # NumPy's numbers overflow where Python's do not
            except (TypeError, ValueError):
                need(False, name, kind)

        t, p, k = self.temperature, self.top_p, self.top_k
        need(t is None or 0 <= t <= 10, "temperature", "between 0 and 10")
        need(p is None or 0 < p <= 1, "top_p", "above 0 and at most 1")
        need(k is None or k >= 0, "top_k", "0 (off) or more")
        need(self.seed is None or 0 <= self.seed < 2**64, "seed", "between 0 and 2^64 - 1")
        need(self.max_frames is None or self.max_frames >= 1, "max_frames", "at least 1")
        most = DEFAULT_MAX_FRAMES if self.max_frames is None else self.max_frames
        need(0 <= self.min_frames <= most, "min_frames", f"between 0 and max_frames ({most})")
        need(0 <= self.pause_ms <= 60_000, "pause_ms", "between 0 and 60000")
        need(self.batch is None or self.batch >= 1, "batch", "at least 1")

    def replace(self, **changes) -> Options:
        """A copy with some fields changed; an unknown name is a `UsageError`."""
        known = {f.name for f in dataclasses.fields(self)}
        for name in changes:
            if name not in known:
                raise UsageError(f"unknown option {name!r}; known: {', '.join(sorted(known))}")
        return dataclasses.replace(self, **changes)

    def sampling(self, default: Sampling) -> Sampling:
        """The sampling in force: each knob that was set, else the model's."""
        pick = lambda mine, theirs: theirs if mine is None else mine
        return Sampling(
            pick(self.temperature, default.temperature),
            pick(self.top_p, default.top_p),
            pick(self.top_k, default.top_k),
        )
