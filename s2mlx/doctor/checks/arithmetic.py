"""Whether MLX itself computes right on the device that it takes: what networks are made of, against NumPy."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import mlx.core as mx
import numpy as np

from ... import device
from ..finding import Finding, bad, good, note

_TOLERANCE = 1e-4  # of the largest value, in float32; the 10 bits of TF32 would be off by 1e-3
_TODO = (
    "MLX is wrong on this machine, and so is all speech: pip install --upgrade mlx; if it stays, attach a report "
    "(s2mlx doctor --report) to an issue"
)


def run() -> Iterator[Finding]:
    where = "the GPU" if device.on_gpu() else "the CPU"
    wrong = {name: error for name, ours, theirs in results() if (error := off(ours, theirs)) > _TOLERANCE}
    if wrong:
        told = ", ".join(f"{name} (off by {error:.0e})" for name, error in wrong.items())
        if os.environ.get("MLX_ENABLE_TF32", "0") != "0" and set(wrong) <= {"product", "convolution", "attention"}:
            yield note(f"short floats in {told}: MLX_ENABLE_TF32 is set", wrong=wrong)
        else:
            yield bad(f"on {where}: {told}", _TODO, wrong=wrong)
    else:
        yield good(f"products, softmax, norms, attention, convolutions, sorting are right on {where}")
    if device.on_gpu() and not device.kernels_available():
        yield note("our Metal kernels are off (S2MLX_KERNELS)", "unset it: speech is slower without them")


def off(ours: mx.array, theirs: np.ndarray) -> float:
    """Relative to the largest value; infinite where it is no number or of another shape."""
    got = np.array(ours.astype(mx.float32))
    if got.shape != theirs.shape or not np.isfinite(got).all():
        return math.inf
    return float(np.abs(got - theirs).max() / np.abs(theirs).max())


def results() -> Iterator[tuple[str, mx.array, np.ndarray]]:
    """(what, by MLX, by NumPy in float64)."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((65, 300), (300, 129)))
    x, y = a.astype(np.float64), b.astype(np.float64)
    m, n = mx.array(a), mx.array(b)
    yield "product", m @ n, x @ y
    yield "vector product", m[:1] @ n, x[:1] @ y
    e = np.exp(x - x.max(1, keepdims=True))
    yield "softmax", mx.softmax(m, axis=1), e / e.sum(1, keepdims=True)
    yield "RMSNorm", mx.fast.rms_norm(m, None, 1e-6), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)
    z = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-6)
    yield "LayerNorm", mx.fast.layer_norm(m, None, None, 1e-6), z
    yield "sorting", mx.take_along_axis(m, mx.argsort(m, axis=1), axis=1), np.sort(x, axis=1)
    yield "running sums", mx.cumsum(m, axis=1), np.cumsum(x, axis=1)
    yield "sines", mx.sin(m) + mx.erf(m) + mx.tanh(m), np.sin(x) + np.vectorize(math.erf)(x) + np.tanh(x)
    yield "gathering", m[mx.array([64, 0, 7])], x[[64, 0, 7]]
    taps = random.standard_normal((3, 16, 32))
    wave = random.standard_normal((50, 16))
    whole = sum(wave[2 * k : 2 * k + 46] @ taps[k] for k in range(3))
    weight = mx.array(taps.transpose(2, 0, 1).astype(np.float32))
    yield "convolution", mx.conv1d(mx.array(wave.astype(np.float32))[None], weight, dilation=2)[0], whole
    q, k, v = (random.standard_normal((1, 4, 9, 64)) for _ in range(3))
    scores = np.where(np.tri(9, dtype=bool), q @ k.swapaxes(2, 3) / 8, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    heads = (mx.array(part.astype(np.float32)) for part in (q, k, v))
    yield (
        "attention",
        mx.fast.scaled_dot_product_attention(*heads, scale=0.125, mask="causal"),
        weights / weights.sum(-1, keepdims=True) @ v,
    )
    packed = mx.quantize(n.T[:128, :256], group_size=32, bits=8)
    opened = np.array(mx.dequantize(*packed, group_size=32, bits=8)).astype(np.float64)
    product = mx.quantized_matmul(m[:, :256], *packed, transpose=True, group_size=32, bits=8)
    yield "quantized product", product, x[:, :256] @ opened.T
