"""Products with weights that stay GGUF blocks: for the few vectors of a step, not for prefill.

`w` uint8 [rows, row_bytes] as in the file, x [..., K] float32, float16 or bfloat16; the result [..., rows] has the type
of x, its sums are float32. A launch takes up to MAX_VECTORS vectors, and a batch takes several launches. More than
MOST_VECTORS take the reference, which opens the whole matrix once.
"""

from __future__ import annotations

from functools import cache

import mlx.core as mx

from . import metal
from .blocks import sample_blocks
from .dequantize import dequantize

MAX_VECTORS = 8
# Each launch reads the blocks, ~1 byte a weight; opening a matrix writes and reads 4 bytes more for each.
MOST_VECTORS = 32
_SIMDGROUPS = 2  # per threadgroup; qmv.metal counts on it


def qmv(w: mx.array, x: mx.array, format: int) -> mx.array:
    """W x."""
    return _choose("qmv", qmv_reference, [w], x, format)


def qmv_add(w: mx.array, x: mx.array, residual: mx.array, format: int) -> mx.array:
    """residual + W x; `residual` [..., rows] of x's type."""
    return _choose("qmv_add", qmv_add_reference, [w], x, format, residual)


def qmv_norm(w: mx.array, x: mx.array, gain: mx.array, eps: float, format: int) -> mx.array:
    """W RMSNorm(x); `gain` [K]."""
    return _choose("qmv_norm", qmv_norm_reference, [w], x, format, gain, eps)


def qmv_norm_swiglu(w1: mx.array, w3: mx.array, x: mx.array, gain: mx.array, eps: float, format: int) -> mx.array:
    """silu(W1 n) * (W3 n) with n = RMSNorm(x); both matrices of one format and shape, `gain` [K]."""
    return _choose("qmv_norm_swiglu", qmv_norm_swiglu_reference, [w1, w3], x, format, gain, eps)


def qmv_reference(w, x, format):
    """`qmv` in plain MLX."""
    return _multiply(w, x.astype(mx.float32), format).astype(x.dtype)


def qmv_add_reference(w, x, residual, format):
    """`qmv_add` in plain MLX."""
    return (residual.astype(mx.float32) + _multiply(w, x.astype(mx.float32), format)).astype(x.dtype)


def qmv_norm_reference(w, x, gain, eps, format):
    """`qmv_norm` in plain MLX."""
    return _multiply(w, _norm(x, gain, eps), format).astype(x.dtype)


def qmv_norm_swiglu_reference(w1, w3, x, gain, eps, format):
    """`qmv_norm_swiglu` in plain MLX."""
    n = _norm(x, gain, eps)
    gate = _multiply(w1, n, format)
    return (gate * mx.sigmoid(gate) * _multiply(w3, n, format)).astype(x.dtype)


def _multiply(w, x, format):
    return x @ dequantize(w, format).T


def _norm(x, gain, eps):
    return mx.fast.rms_norm(x.astype(mx.float32), gain.astype(mx.float32), eps)


def _choose(name, reference, weights, x, format, *rest):
    vectors = x.size // x.shape[-1]
    launches = metal.groups(vectors, MAX_VECTORS)
    each = metal.groups(vectors, launches) if launches else 0
    if not 0 < vectors <= MOST_VECTORS or not metal.trusted(
        (name, int(format), each, x.dtype), _KERNELS[name], reference, lambda: _sample(name, format, each, x.dtype)
    ):
        return reference(*weights, x, *rest, format)
    if launches == 1:
        return _launch(name, weights, x, rest, format, vectors)
    pieces = lambda a: mx.split(a.reshape(vectors, -1), [each * i for i in range(1, launches)])
    rests = [(piece,) for piece in pieces(rest[0])] if name == "qmv_add" else [rest] * launches
    y = [_choose(name, reference, weights, piece, format, *own) for piece, own in zip(pieces(x), rests)]
    return mx.concatenate(y).reshape(*x.shape[:-1], -1)


def _launch(name, weights, x, rest, format, vectors):
    rows, k = weights[0].shape[0], x.shape[-1]
    if name != "qmv_add":
        rest = rest and (rest[0], metal.scalar(rest[1]))
    kernel, plan = metal.load("qmv.metal")[name], _plan(name, int(format), rows, vectors, x.dtype)
    if x.ndim == 2:
        return kernel([*weights, x, *rest], **plan)[0]
    if name == "qmv_add":
        rest = (rest[0].reshape(vectors, rows),)
    return kernel([*weights, x.reshape(vectors, k), *rest], **plan)[0].reshape(*x.shape[:-1], rows)


@cache
def _plan(name, format, rows, vectors, dtype):
    """How a kernel is launched: the same in every layer and frame, so worked out once."""
    rows_each = (4 if vectors <= 2 else 2) // (2 if name == "qmv_norm_swiglu" else 1)
    threads = 32 * _SIMDGROUPS
    return dict(
        grid=(threads * metal.groups(rows, rows_each * _SIMDGROUPS), 1, 1),
        threadgroup=(threads, 1, 1),
        outputs=[((vectors, rows), dtype)],
        FORMAT=format,
        T=dtype,
        M=vectors,
    )


def _kernel(name):
    """The launch of `name` with the arguments of its public function."""

    def launch(*arguments):
        *arrays, format = arguments
        count = 2 if name == "qmv_norm_swiglu" else 1
        x = arrays[count]
        return _launch(name, arrays[:count], x, tuple(arrays[count + 1 :]), format, x.size // x.shape[-1])

    return launch


_KERNELS = {name: _kernel(name) for name in ("qmv", "qmv_add", "qmv_norm", "qmv_norm_swiglu")}


def _sample(name, format, vectors, dtype, rows=11, k=512):
    """Arguments of the public function `name` for a self-check."""
    keys = mx.random.split(mx.random.key(0), 3)
    x = mx.random.normal((vectors, k), key=keys[0]).astype(dtype)
    gain = mx.random.uniform(0.5, 1.5, (k,), key=keys[1])
    weights = [sample_blocks(format, rows, k, seed) for seed in range(2 if name == "qmv_norm_swiglu" else 1)]
    residual = mx.random.normal((vectors, rows), key=keys[2]).astype(dtype)
    extra = {"qmv": [], "qmv_add": [residual]}.get(name, [gain, 1e-6])
    return *weights, x, *extra, format
