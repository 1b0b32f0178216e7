"""Products with what stands right before and after them in a transformer block: norm, SwiGLU, residual.

Weights that stay raw GGUF blocks have Metal kernels that do each of these in one launch; every other form composes them
of plain operations. Rows: x [N, in], one row a position.
"""

from __future__ import annotations

import mlx.core as mx

from ..kernels.qmv import qmv_add, qmv_norm, qmv_norm_swiglu
from .elementwise import swiglu
from .forms import Dense, RawBlocks
from .linear import Linear
from .matmul import host_blas
from .scope import Scope


def normed(linear: Linear, x: mx.array, gain: mx.array, eps: float) -> mx.array:
    """W RMSNorm(x): x [N, in] -> [N, out]."""
    if isinstance(linear.form, RawBlocks) and linear.bias is None:
        return qmv_norm(linear.form.data, x, gain, eps, linear.form.kind)
    return linear(mx.fast.rms_norm(x, gain, eps))


def added(linear: Linear, x: mx.array, residual: mx.array) -> mx.array:
    """residual + W x: x [N, in], residual [N, out] -> [N, out]."""
    if linear.bias is None:
        if isinstance(linear.form, RawBlocks):
            return qmv_add(linear.form.data, x, residual, linear.form.kind)
        if isinstance(linear.form, Dense) and not host_blas():
            return mx.addmm(residual, x, linear.form.w)
    return residual + linear(x)


class SwiGLU:
    """silu(W1 n) * (W3 n) with n = RMSNorm(x). One product over both matrices, or one fused launch over raw blocks."""

    def __init__(self, scope: Scope):
        w1, w3 = scope.linear("w1"), scope.linear("w3")
        raw = all(isinstance(w.form, RawBlocks) and w.bias is None for w in (w1, w3)) and w1.form.kind == w3.form.kind
        self.matrices = (w1, w3) if raw else (Linear.joined([w1, w3]),)

    def __call__(self, x: mx.array, gain: mx.array, eps: float) -> mx.array:
        first, *second = self.matrices
        if second:
            w1, w3 = first.form, second[0].form
            return qmv_norm_swiglu(w1.data, w3.data, x, gain, eps, w1.kind)
        return swiglu(*mx.split(first(mx.fast.rms_norm(x, gain, eps)), 2, axis=-1))
