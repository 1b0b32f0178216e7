"""Loads `.metal` files, launches them, and decides whether a kernel may be trusted. Knows no kernel's arithmetic.

A `.metal` file starts with functions for everybody, then has one or more kernel bodies, each below a line
`//: kernel NAME(input, ...) -> output, ...`, which may go on in lines that begin with `//:`. MLX writes the signature
around a body (see `mx.fast.metal_kernel`). `#include "other.metal"` brings in the functions of another file.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
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
_verdicts: dict[tuple, bool] = {}


def trusted(key: tuple, kernel: Callable, reference: Callable, sample: Callable[[], tuple], last: bool = True) -> bool:
    """Whether the kernel behind `key` may be used: available, and right on a small sample, tried once per `key`.
    Without `last` another form of it will be asked for, and nothing is said.

    `sample` makes arguments for both functions. A kernel that does not build or gives another result than its reference
    (integers: any other; floats: by more than TOLERANCE of the largest) is left aside with one warning.
    """
    if not device.kernels_available():
        return False
    if key not in _verdicts:
        fault = _fault(kernel, reference, sample())
        _verdicts[key] = fault is None
        if fault and last:
            warnings.warn(
                f"Metal kernel {key[0]} is off, plain MLX takes its place: {fault}", RuntimeWarning, stacklevel=3
            )
    return _verdicts[key]


def _fault(kernel, reference, arguments) -> str | None:
    as_list = lambda r: list(r) if isinstance(r, (list, tuple)) else [r]
    try:
        got = as_list(kernel(*arguments))
        mx.eval(got)
    except (RuntimeError, ValueError) as error:  # what MLX raises for text, or a threadgroup, that Metal refuses
        return str(error).strip().splitlines()[0]
    if not all(_agree(a, b) for a, b in zip(got, as_list(reference(*arguments)))):
        return "it computes something else on this machine"
    return None


def _agree(a: mx.array, b: mx.array) -> bool:
    if not mx.issubdtype(a.dtype, mx.floating):
        return bool(mx.array_equal(a, b))
    a, b = a.astype(mx.float32), b.astype(mx.float32)
    return float(mx.max(mx.abs(a - b))) <= TOLERANCE * float(mx.max(mx.abs(b))) + 1e-6  # false with a NaN


@cache
def scalar(value: float) -> mx.array:
    """A float32 scalar for a kernel, made once."""
    return mx.array(value, mx.float32)


def groups(n: int, size: int) -> int:
    """How many pieces of `size` cover `n`."""
    return -(-n // size)
