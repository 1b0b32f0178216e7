"""Small functions of single elements, each one kernel where that pays.

`mx.compile` fuses such a chain on a GPU. On the CPU backend it would need a compiler at run time and gain nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps

import mlx.core as mx

from ..device import on_gpu


def fused(function: Callable) -> Callable:
    """The function, of arrays and elementwise, as one kernel on a GPU."""
    compiled = mx.compile(function, shapeless=True)

    @wraps(function)
    def call(*arrays: mx.array) -> mx.array:
        return (compiled if on_gpu() else function)(*arrays)

    return call


@fused
def swiglu(gate: mx.array, up: mx.array) -> mx.array:
    """silu(gate) * up (Shazeer 2020)."""
    return gate * mx.sigmoid(gate) * up


@fused
def snake(x: mx.array, alpha: mx.array, inverse: mx.array) -> mx.array:
    """x + sin^2(alpha x) * inverse, inverse = 1 / alpha (Ziyin et al. 2020)."""
    return x + mx.square(mx.sin(x * alpha)) * inverse


@fused
def gelu(x: mx.array) -> mx.array:
    """The exact one, x * Phi(x)."""
    return x * (1 + mx.erf(x * math.sqrt(0.5))) * 0.5


@fused
def scaled_residual(x: mx.array, branch: mx.array, scale: mx.array) -> mx.array:
    """x + scale * branch, one scale per channel."""
    return x + scale * branch
