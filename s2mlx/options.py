"""The knobs of one request: what each may be and what it means, told once (`KNOBS`), and their values (`Options`).

The command's options, the app's form and the server's checks are made from the table.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from dataclasses import dataclass
from typing import Any, Self

from .errors import UsageError

DEFAULT_MAX_FRAMES = 1024
# Passes at once, if memory allows: the Fast-AR's first step then has 8 rows, which one launch of our kernels takes.
DEFAULT_BATCH = 4
_LARGEST_SEED = 2**64 - 1
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Sampling:
    """Sampling defaults of a model. S2 Pro has no recommendation of its own in the file; these are the usual ones."""

    temperature: float = 0.8
    top_p: float = 0.8
    top_k: int = 30


@dataclass(frozen=True)
class Knob:
    """One knob: its type, range, default and meaning.

    name: the field it sets; kind: int, float or bool. least, most: the range, both within it unless `above` leaves the
    least out. default: the value of who says nothing; None stands for `unset`, which tells in words what then holds.
    unit: of the value, for people; metavar: what stands for the value in a command's help. needs: the knob without
    which it means nothing.
    """

    name: str
    kind: type
    help: str
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    above: bool = False
    default: float | bool | None = None
    unset: str = ""
    unit: str = ""
    needs: str = ""

    @property
    def label(self) -> str:
        """The name in a form: "Top p"."""
        return self.name.replace("_", " ").capitalize()

    @property
    def option(self) -> str:
        """The name on a command line: "--top-p"."""
        return "--" + self.name.replace("_", "-")

    @property
    def default_words(self) -> str:
        """The default in words: "the model's own", "250"."""
        return self.unset if self.default is None else str(self.default)

    @property
    def type_words(self) -> str:
        """ "a whole number", ..."""
        return {int: "a whole number", float: "a number", bool: "true or false"}[self.kind]

    @property
    def range_words(self) -> str:
        """ "between 0 and 10", ...; empty without a range."""
        if self.least is None:
            return ""
        if self.most is None:
            return f"{'above' if self.above else 'at least'} {self.least}"
        return (
            f"above {self.least} and at most {self.most}" if self.above else f"between {self.least} and {_most(self)}"
        )

    def check(self, value: Any) -> Any:
        """`value` as the plain Python value it means, None where that leaves the default to others.

        Raises `UsageError`, which begins with the name, for another type (a bool or a text is no number; NumPy's
        numbers are) and for what lies outside the range.
        """
        if value is None and self.default is None:
            return None
        plain = self._plain(value)
        if plain is None:
            raise self._wrong(self.type_words, value)
        if self.kind is not bool and not self._within(plain):
            raise self._wrong(self.range_words, value)
        return plain

    def parse(self, text: str) -> Any:
        """The value that a person types; nothing is the default. Raises `UsageError`."""
        word = text.strip()
        if not word:
            return self.default
        read = _TRUTH.__getitem__ if self.kind is bool else self.kind
        try:
            value = read(word)
        except (ValueError, KeyError):
            raise self._wrong(self.type_words, word) from None
        return self.check(value)

    def _plain(self, value: Any) -> Any:
        """The value as `kind`; None if it is of another type."""
        truth = isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"
        if self.kind is bool or truth or isinstance(value, (str, bytes)):
            return bool(value) if self.kind is bool and truth else None
        try:
            return operator.index(value) if self.kind is int else float(value)
        except OverflowError:  # a whole number too large for a float
            return math.inf
        except (TypeError, ValueError):
            return None

    def _within(self, value: float) -> bool:
        low = self.least is None or (value > self.least if self.above else value >= self.least)
        return low and (self.most is None or value <= self.most)

    def _wrong(self, rule: str, value: Any) -> UsageError:
        try:
            shown = repr(value)
        except ValueError:  # Python writes out no number of thousands of digits
            shown = "a number of thousands of digits"
        return UsageError(f"{self.name} must be {rule}, not {shown if len(shown) <= 60 else shown[:57] + '...'}")


def _most(knob: Knob) -> str:
    return "2^64 - 1" if knob.most == _LARGEST_SEED else str(knob.most)


KNOBS: dict[str, Knob] = {
    knob.name: knob
    for knob in (
        Knob(
            "temperature", float, "randomness, 0: the likeliest", "T", least=0, most=10, unset="the model's own"
        ),
        Knob("top_p", float, "sample the likeliest of this mass", "P", least=0, most=1, above=True, unset="the model's own"),
        Knob("top_k", int, "sample the K likeliest, 0 is off", "K", least=0, unset="the model's own"),
        Knob("seed", int, "the same seed gives the same speech", "N", least=0, most=_LARGEST_SEED, unset="drawn"),
        Knob(
            "max_frames", int, "longest pass, one frame is 46 ms", "N",
            least=1, unset=f"by its words, {DEFAULT_MAX_FRAMES} at most", unit="frames",
        ),
        Knob("min_frames", int, "shortest pass", "N", least=0, default=0, unit="frames"),
        Knob("pause_ms", int, "silence between passes of a long text", "MS", least=0, most=60_000, default=250, unit="ms"),
        Knob("rate", float, "speed of the speech, its pitch stays", "R", least=0.5, most=2, default=1.0, unit="x"),
        Knob("trim", bool, "cut trailing silence", default=False),
        Knob("normalize", bool, "scale the peak to 0.95", default=False),
        Knob(
            "batch", int, "passes of a long text generated together when nobody waits for the sound", "N",
            least=1, unset=f"{DEFAULT_BATCH}, or what the memory holds", unit="passes",
        ),
        Knob("check", bool, "hear each pass, and speak those with wrong words again", default=False),
        Knob(
            "takes", int, "how often a pass is spoken at most until its words are right; the best is kept", "N",
            least=1, most=20, default=3, needs="check",
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """How to speak; `KNOBS` has the ranges.

    temperature, top_p, top_k: None takes the model's own default (`Sampling`). temperature 0 is argmax; top_k 0 is off.
    seed: None draws one; the seed used is reported in the result.
    max_frames, min_frames: per pass; one frame is 46 ms of speech. None allows three times what
    the words of a pass take, and two seconds; at most 1024, or as many as the context holds.
    pause_ms: silence between passes of a long text.
    rate: how fast the speech is played back: 2 takes half the time. Its pitch stays, and so do its codes.
    trim, normalize: cut trailing silence, scale the peak to 0.95 (whole results only, never a stream).
    batch: passes that share one read of the weights when nobody listens; None lets the machine decide.
    check: a recognizer hears each pass; one with words missing, doubled or invented is spoken again, up to `takes`
    times in all, and the best is kept (needs `pip install "s2mlx[ear]"`).

    Raises `UsageError`.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    max_frames: int | None = None
    min_frames: int = 0
    pause_ms: int = 250
    rate: float = 1.0
    trim: bool = False
    normalize: bool = False
    batch: int | None = None
    check: bool = False
    takes: int = 3

    def __post_init__(self) -> None:
        for name, knob in KNOBS.items():
            object.__setattr__(self, name, knob.check(getattr(self, name)))
        most = DEFAULT_MAX_FRAMES if self.max_frames is None else self.max_frames
        if self.min_frames > most:
            raise UsageError(f"min_frames must be between 0 and max_frames ({most}), not {self.min_frames}")

    @property
    def needs_whole(self) -> bool:
        """Do they ask for what only the finished speech can be given?"""
        return self.trim or self.normalize

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed; an unknown name is a `UsageError`."""
        known = {f.name for f in dataclasses.fields(self)}
        for name in changes:
            if name not in known:
                raise UsageError(f"unknown option {name!r}; known: {', '.join(sorted(known))}")
        return dataclasses.replace(self, **changes)

    def sampling(self, default: Sampling) -> Sampling:
        """The sampling in force: each knob that was set, else the model's."""
        return Sampling(
            default.temperature if self.temperature is None else self.temperature,
            default.top_p if self.top_p is None else self.top_p,
            default.top_k if self.top_k is None else self.top_k,
        )
