"""Products with weights that stay GGUF blocks: for the few vectors of a step, not for prefill.

`w` uint8 [rows, row_bytes] as in the file, x [..., K] float32, float16 or bfloat16; the result [..., rows] has the type
of x, its sums are float32. A launch takes up to MAX_VECTORS vectors, and a batch takes several launches; pipelines are
for 1, 2, 4 or 8. More than MOST_VECTORS take the reference, which opens the whole matrix once.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import mlx.core as mx

from . import metal
from .blocks import sample_blocks
from .dequantize import dequantize

MAX_VECTORS = 8
# Each launch reads the blocks, ~1 byte a weight; opening a matrix writes and reads 4 bytes more for each.
MOST_VECTORS = 32
_STAGED = 16384  # bytes of x that a threadgroup holds at a time: two or three groups a core find room
_TEAM_COLUMNS = 512  # 16 lanes take 32 weights each


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
    if not 0 < vectors <= MOST_VECTORS:
        return reference(*weights, x, *rest, format)
    if vectors > MAX_VECTORS:
        return _in_pieces(name, reference, weights, x, format, rest, vectors)
    form = _Form(name, int(format), _padded(vectors), x.dtype, _chunk(x.shape[-1], _padded(vectors)))
    if not metal.trusted(form, _KERNELS[name], reference, lambda: _sample(form, x.shape[-1])):
        return reference(*weights, x, *rest, format)
    return _launch(name, weights, x, rest, format, vectors)


class _Form(NamedTuple):
    """What a pipeline is built for; the key of its self-check."""

    name: str
    format: int
    vectors: int
    dtype: mx.Dtype
    chunk: int


def _padded(vectors: int) -> int:
    """1, 2, 4 or 8: a batch that shrinks needs no pipeline that was not there before."""
    return 1 << (vectors - 1).bit_length()


def _chunk(k: int, vectors: int) -> int:
    """Columns of `vectors` (padded) rows staged at a time."""
    return min(
        metal.groups(k, _TEAM_COLUMNS) * _TEAM_COLUMNS, _STAGED // (4 * vectors) // _TEAM_COLUMNS * _TEAM_COLUMNS
    )


def _simdgroups(norm: bool) -> int:
    """Of a threadgroup. A norm is worth sharing among many rows; without one smaller groups spread better."""
    return 8 if norm else 4


def rows_of_group(vectors: int, norm: bool, matrices: int = 1) -> int:
    """Rows of each of `matrices` that a threadgroup computes: two teams a simdgroup, see qmv.metal."""
    return _simdgroups(norm) * 2 * (4 if vectors == 1 else 2) // matrices


def _in_pieces(name, reference, weights, x, format, rest, vectors):
    pieces = lambda a: mx.split(a.reshape(vectors, -1), list(range(MAX_VECTORS, vectors, MAX_VECTORS)))
    xs = pieces(x)
    rests = [(piece,) for piece in pieces(rest[0])] if name == "qmv_add" else [rest] * len(xs)
    y = [_choose(name, reference, weights, piece, format, *own) for piece, own in zip(xs, rests)]
    return mx.concatenate(y).reshape(*x.shape[:-1], -1)


def _launch(name, weights, x, rest, format, vectors):
    rows, k = weights[0].shape[0], x.shape[-1]
    if name != "qmv_add":
        rest = rest and (rest[0], metal.scalar(rest[1]))
    kernel, plan = metal.load("qmv.metal")[name], _plan(name, int(format), rows, k, vectors, x.dtype)
    if x.ndim == 2:
        return kernel([*weights, x, *rest], **plan)[0]
    if name == "qmv_add":
        rest = (rest[0].reshape(vectors, rows),)
    return kernel([*weights, x.reshape(vectors, k), *rest], **plan)[0].reshape(*x.shape[:-1], rows)


@cache
def _plan(name, format, rows, k, vectors, dtype):
    """How a kernel is launched: the same in every layer and frame, so worked out once."""
    padded, norm = _padded(vectors), "norm" in name
    simdgroups, threads = _simdgroups(norm), 32 * _simdgroups(norm)
    return dict(
        grid=(threads * metal.groups(rows, rows_of_group(vectors, norm, 2 if name == "qmv_norm_swiglu" else 1)), 1, 1),
        threadgroup=(threads, 1, 1),
        outputs=[((vectors, rows), dtype)],
        FORMAT=format,
        T=dtype,
        M=padded,
        SIMDGROUPS=simdgroups,
        CHUNK=_chunk(k, padded),
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


def _sample(form, k, rows=11):
    """Arguments of the public function for a self-check of the very pipeline."""
    keys = mx.random.split(mx.random.key(0), 3)
    x = mx.random.normal((form.vectors, k), key=keys[0]).astype(form.dtype)
    gain = mx.random.uniform(0.5, 1.5, (k,), key=keys[1])
    weights = [sample_blocks(form.format, rows, k, seed) for seed in range(2 if form.name == "qmv_norm_swiglu" else 1)]
    residual = mx.random.normal((form.vectors, rows), key=keys[2]).astype(form.dtype)
    extra = {"qmv": [], "qmv_add": [residual]}.get(form.name, [gain, 1e-6])
    return *weights, x, *extra, form.format
