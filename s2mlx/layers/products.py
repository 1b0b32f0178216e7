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

    def __init__(self, scope):
        self.w1, self.w3 = scope.linear("w1"), scope.linear("w3")
        self.raw = (
            all(isinstance(w.form, RawBlocks) and w.bias is None for w in (self.w1, self.w3))
            and self.w1.form.kind == self.w3.form.kind
        )
        if not self.raw:
            self.both = Linear.joined([self.w1, self.w3])
            self.w1 = self.w3 = None

    def __call__(self, x: mx.array, gain: mx.array, eps: float) -> mx.array:
        if self.raw:
            return qmv_norm_swiglu(self.w1.form.data, self.w3.form.data, x, gain, eps, self.w1.form.kind)
        return swiglu(*mx.split(self.both(mx.fast.rms_norm(x, gain, eps)), 2, axis=-1))
