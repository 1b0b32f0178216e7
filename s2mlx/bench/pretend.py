"""A GPU that is not there: networks choose their GPU forms, and their graphs can be counted, on any machine.

While `gpu()` holds, Python code that asks MLX for its device hears "gpu", and what only a GPU has becomes one stand-in
node: `mx.fast` functions and `mx.dequantize` (many nodes on the CPU backend, one on Metal) and our kernels (none
without Metal). Results are of the right shapes and types and mean nothing. Patches modules: for one thread, for
counting, never around real work.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import mlx.core as mx

from .. import device
from ..kernels import metal

_FAST = ("rms_norm", "layer_norm", "rope", "scaled_dot_product_attention")


@contextmanager
def gpu(kernels: bool) -> Iterator[dict[str, mx.array]]:
    """`kernels`: our Metal kernels too. Yields the first output of every stand-in made so far, by names like
    `rms_norm#7`."""
    made: dict[str, mx.array] = {}

    def stand_in(name: str, outputs: list[mx.array], inputs: list[mx.array]) -> list[mx.array]:
        results = mx.depends(outputs, inputs)
        made[f"{name}#{len(made)}"] = results[0]
        return results

    def fast(name):
        def call(*arguments, **named):
            inputs = [a for a in (*arguments, *named.values()) if isinstance(a, mx.array)]
            return stand_in(name, inputs[:1], inputs[1:])[0]

        return call

    def dequantize(words, scale, offset, *, group_size, bits):
        shape = *scale.shape[:-1], scale.shape[-1] * group_size
        return stand_in("dequantize", [_empty(shape, scale.dtype)], [words, scale, offset])[0]

    def kernel(self, inputs, *, grid, threadgroup, outputs, **template):
        return stand_in(self.name, [_empty(tuple(shape), dtype) for shape, dtype in outputs], inputs)

    swaps = [
        (mx, "default_device", lambda: mx.Device(mx.gpu)),
        (mx, "dequantize", dequantize),
        *((mx.fast, name, fast(name)) for name in _FAST),
        (device, "kernels_available", lambda: kernels),
        (metal, "trusted", lambda *_, **__: kernels),
        (metal.Kernel, "__call__", kernel),
    ]
    real = [(owner, name, getattr(owner, name)) for owner, name, _ in swaps]
    try:
        for owner, name, other in swaps:
            setattr(owner, name, other)
        yield made
    finally:
        for owner, name, own in real:
            setattr(owner, name, own)


@cache
def _empty(shape: tuple[int, ...], dtype: mx.Dtype) -> mx.array:
    array = mx.zeros(shape, dtype)
    mx.eval(array)
    return array
