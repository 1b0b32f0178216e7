"""Cases of kernels against their references, with the kernels run on the CPU by `msl`. Knows no kernel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import mlx.core as mx
import numpy as np

from s2mlx.kernels import metal

from . import msl


@contextmanager
def kernels(launch=msl.launch):
    """Every dispatcher takes its kernel, launched by `launch`; with None every dispatcher takes its reference."""
    with (
        mock.patch.object(metal, "trusted", lambda *a, **k: launch is not None),
        mock.patch.object(metal, "launch", launch),
    ):
        yield


@dataclass(frozen=True)
class Case:
    """`call(*arguments())` under the kernel must equal `reference(*arguments())`, or itself in plain MLX.

    `tolerance` is relative to the largest value of each output."""

    id: str
    call: Callable
    arguments: Callable[[], tuple]
    tolerance: float = 2e-6
    reference: Callable | None = None

    def outputs(self, launch) -> list[mx.array]:
        with kernels(launch):
            results = (self.call if launch or not self.reference else self.reference)(*self.arguments())
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            results = [r for r in results if r is not None]
            mx.eval(results)
        return results

    def check(self, launch=msl.launch) -> None:
        got, wanted = self.outputs(launch), self.outputs(None)
        assert len(got) == len(wanted)
        for i, (a, b) in enumerate(zip(got, wanted)):
            assert a.shape == b.shape and a.dtype == b.dtype, (i, a.shape, b.shape, a.dtype, b.dtype)
            a, b = (np.array(v.astype(mx.float32)) for v in (a, b))
            assert np.isfinite(a).all(), f"output {i}: not finite, or never written"
            error = np.abs(a - b).max() / (np.abs(b).max() + 1e-9)
            assert error <= max(self.tolerance, ROUNDING.get(got[i].dtype, 0)), f"output {i} is off by {error:.2e}"


# one rounding of the result, in its own type
ROUNDING = {mx.float16: 1e-3, mx.bfloat16: 8e-3}


def precompile(cases) -> msl.Recorder:
    """All programs the cases need, compiled together."""
    recorder = msl.Recorder()
    for case in cases:
        case.outputs(recorder.launch)
    recorder.compile()
    return recorder


def normal(*shape: int, seed: int = 0, dtype: mx.Dtype = mx.float32) -> mx.array:
    """Standard normal numbers, the same for the same shape and seed."""
    random = np.random.default_rng([seed, *shape])
    return mx.array(random.standard_normal(shape).astype(np.float32)).astype(dtype)
