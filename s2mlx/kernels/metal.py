"""Loads `.metal` files, launches them, and decides whether a kernel may be trusted. Knows no kernel's arithmetic.

A `.metal` file starts with functions for everybody, then has one or more kernel bodies, each below a line
`//: kernel NAME(input, ...) -> output, ...`, which may go on in lines that begin with `//:`. MLX writes the signature
around a body (see `mx.fast.metal_kernel`). `#include "other.metal"` brings in the functions of another file.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

import mlx.core as mx

from .. import device

_BODY = re.compile(r"^//: kernel (\w+)\(([^)]*)\)(?:\n//:)? *-> (.*)$", re.M)
_INCLUDE = re.compile(r'^#include "([\w.]+)"$', re.M)


@dataclass(frozen=True)
class Kernel:
    """One kernel body with its file's functions; built on first use."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    header: str
    body: str

    @cached_property
    def built(self):
        return mx.fast.metal_kernel(
            name="s2_" + self.name,
            input_names=list(self.inputs),
            output_names=list(self.outputs),
            header=self.header,
            source=self.body,
        )

    def __call__(
        self,
        inputs: list[mx.array],
        *,
        grid: tuple[int, int, int],
        threadgroup: tuple[int, int, int],
        outputs: list[tuple[tuple[int, ...], mx.Dtype]],
        **template,
    ) -> list[mx.array]:
        """Launch: `grid` and `threadgroup` count threads, `outputs` gives shape and type of each output."""
        return launch(
            self.built,
            inputs=inputs,
            template=list(template.items()),
            grid=grid,
            threadgroup=threadgroup,
            output_shapes=[shape for shape, _ in outputs],
            output_dtypes=[dtype for _, dtype in outputs],
        )


def launch(kernel, **request) -> list[mx.array]:
    """The one place where kernels meet MLX."""
    return kernel(**request)


@cache
def load(file: str) -> dict[str, Kernel]:
    """The kernels of one `.metal` file by name."""
    header, *parts = _BODY.split(_text(file))
    header = _INCLUDE.sub(lambda m: _BODY.split(_text(m.group(1)))[0], header)
    names = lambda text: tuple(n.strip() for n in text.replace("//:", "").split(","))
    return {
        name: Kernel(name, names(inputs), names(outputs), header, body)
        for name, inputs, outputs, body in zip(*[iter(parts)] * 4)
    }


def _text(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")


# Generous, since MLX's own products use short floats on some chips if MLX_ENABLE_TF32 is 1; a wrong kernel is off by
# much more.
TOLERANCE = 1e-2
Trial = tuple[Callable, Callable, Callable[[], tuple]]  # kernel, reference, sample
_verdicts: dict[tuple, bool] = {}
_waiting: dict[tuple, Trial] | None = None  # in a rehearsal
_trying = False  # while references run, which use no kernels


def trusted(key: tuple, kernel: Callable, reference: Callable, sample: Callable[[], tuple], last: bool = True) -> bool:
    """Whether the kernel behind `key` may be used: available, and right on a small sample, tried once per `key`.
    Without `last` another form of it will be asked for, and nothing is said.

    `sample` makes arguments for both functions. A kernel that does not build or gives another result than its reference
    (integers: any other; floats: by more than TOLERANCE of the largest) is left aside with one warning.
    """
    if _trying or not device.kernels_available():
        return False
    if key not in _verdicts:
        if _waiting is not None:
            _waiting[key] = kernel, reference, sample
            return True
        fault = _fault((kernel, reference, sample))
        _verdicts[key] = fault is None
        if fault and last:
            warnings.warn(
                f"Metal kernel {key[0]} is off, plain MLX takes its place: {fault}", RuntimeWarning, stacklevel=3
            )
    return _verdicts[key]


@contextmanager
def rehearsal() -> Iterator[None]:
    """For who builds graphs only to meet their kernels, and evaluates nothing: all that nobody has tried yet count as
    trusted here, and are tried at the end, in one evaluation. What then fails is tried again alone when it is used."""
    global _waiting
    _waiting = {}
    try:
        yield
    finally:
        met, _waiting = _waiting, None
    try:
        agreed = {key: _agreement(trial) for key, trial in met.items()}
        mx.eval(list(agreed.values()))
    except _REFUSED:
        return
    _verdicts.update((key, True) for key, right in agreed.items() if right.item())


def trying() -> bool:
    """Whether a reference is running for a self-check: it takes no kernels."""
    return _trying


_REFUSED = RuntimeError, ValueError  # what MLX raises for text, or a threadgroup, that Metal refuses


def _fault(trial: Trial) -> str | None:
    try:
        right = _agreement(trial).item()
    except _REFUSED as error:
        return str(error).strip().splitlines()[0]
    return None if right else "it computes something else on this machine"


def _agreement(trial: Trial) -> mx.array:
    """Whether both give the same, not evaluated yet."""
    global _trying
    kernel, reference, sample = trial
    as_list = lambda r: list(r) if isinstance(r, (list, tuple)) else [r]
    _trying = True
    try:
        arguments = sample()
        pairs = zip(as_list(kernel(*arguments)), as_list(reference(*arguments)))
        return mx.stack([_agree(a, b) for a, b in pairs if a is not None]).all()
    finally:
        _trying = False


def _agree(a: mx.array, b: mx.array) -> mx.array:
    if not mx.issubdtype(a.dtype, mx.floating):
        return mx.array_equal(a, b)
    a, b = a.astype(mx.float32), b.astype(mx.float32)
    return mx.max(mx.abs(a - b)) <= TOLERANCE * mx.max(mx.abs(b)) + 1e-6  # false with a NaN


def few(*arrays: mx.array) -> tuple[bool, ...]:
    """A part of a key: MLX hands arrays of fewer than 8 elements to a kernel in another way, by another pipeline."""
    return tuple(a.size < 8 for a in arrays)


@cache
def scalar(value: float) -> mx.array:
    """A float32 scalar for a kernel, made once."""
    return mx.array(value, mx.float32)


def groups(n: int, size: int) -> int:
    """How many pieces of `size` cover `n`."""
    return -(-n // size)
