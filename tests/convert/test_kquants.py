"""K-quants: their bytes are what ggml reads, and their error is near the least that any choice of scales could give."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as T

from s2mlx.convert import kquants
from s2mlx.weights.gguf_file import GGUFFile

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
KINDS = sorted(kquants.KINDS)
# weights of a group, integers of a weight, integers of a scale (and of a minimum)
AFFINE = {T.Q2_K: (16, 3, 15), T.Q4_K: (32, 15, 63), T.Q5_K: (32, 31, 63)}
SYMMETRIC = {T.Q3_K: (16, -4, 3, -32, 31), T.Q6_K: (16, -32, 31, -128, 127)}
name_of = lambda kind: kind.name


@cache
def weights(spread: str, rows: int = 12) -> np.ndarray:
    """float32 [rows, 2560] of deviation 1: normal, heavy-tailed (t of 4 degrees), or each group with its own."""
    rng = np.random.default_rng(5)
    shape = (rows, 2560)
    x = rng.standard_t(4, shape) / 2**0.5 if spread == "heavy" else rng.standard_normal(shape)
    if spread == "uneven":
        x *= np.repeat(np.exp(rng.normal(0, 0.7, (rows, 160))), 16, axis=1)
    return (x / x.std()).astype(np.float32)


def error(x, kind) -> float:
    """Root mean square of what quantizing changes."""
    return float(np.sqrt(np.mean((quants.dequantize(kquants.quantize(x, kind), kind) - x) ** 2)))


def nearest(x, kind) -> float:
    """The same for plain rounding: scales from each group's least and greatest weight, kept as exact floats."""
    if kind in AFFINE:
        size, levels, _ = AFFINE[kind]
        groups = x.reshape(-1, size)
        low = np.minimum(groups.min(1, keepdims=True), 0)
        scale = (groups.max(1, keepdims=True) - low) / levels
        made = np.rint((groups - low) / scale) * scale + low
    else:
        size, least, most = SYMMETRIC[kind][:3]
        groups = x.reshape(-1, size)
        scale = np.take_along_axis(groups, np.abs(groups).argmax(1)[:, None], 1) / least
        made = np.clip(np.rint(groups / scale), least, most) * scale
    return float(np.sqrt(np.mean((made - groups) ** 2)))


@pytest.mark.parametrize("spread", ["normal", "heavy", "uneven"])
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_better_than_rounding_to_nearest(kind, spread):
    """Though its scales are integers, and those of the plain rounding are not."""
    x = weights(spread)
    assert error(x, kind) < 0.96 * nearest(x, kind)


@pytest.mark.parametrize("spread", ["normal", "heavy"])
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_near_the_best_of_all_blocks(kind, spread):
    """All integers of scales and minima of each group, on a grid of the two floats of the block."""
    x = weights(spread)[0, : 4 * 256]
    assert error(x[None], kind) < 1.045 * best_of_all(x, kind)


def best_of_all(x, kind) -> float:
    total = 0.0
    for block, raw in zip(x.reshape(-1, 256), kquants.quantize(x[None], kind).reshape(-1, GGML_QUANT_SIZES[kind][1])):
        total += (best_affine if kind in AFFINE else best_symmetric)(block, raw, kind)
    return float(np.sqrt(total / x.size))


def best_affine(x, raw, kind) -> float:
    size, levels, most = AFFINE[kind]
    at = 80 if kind is T.Q2_K else 0
    d0, m0 = raw[at : at + 4].view(np.float16).astype(np.float32)
    groups = x.reshape(-1, 1, size)
    minima = np.arange(most + 1, dtype=np.float32)[:, None]
    grid = np.linspace(0.88, 1.12, 9).astype(np.float32)
    best = np.inf
    for d in d0 * grid:
        for m in m0 * grid:
            shifted = groups + m * minima  # [groups, minima, weights]
            least = np.full(len(groups), np.inf)
            for scale in range(most + 1):
                unit = d * scale
                q = np.clip(np.rint(shifted / unit), 0, levels) if scale else np.zeros_like(shifted)
                least = np.minimum(least, np.square(q * unit - shifted).sum(2).min(1))
            best = min(best, least.sum())
    return best


def best_symmetric(x, raw, kind) -> float:
    size, low, high, least_scale, most_scale = SYMMETRIC[kind]
    d0 = np.abs(raw[-2:].view(np.float16).astype(np.float32))[0]
    groups = x.reshape(-1, 1, size)
    scales = np.arange(least_scale, most_scale + 1, dtype=np.float32)[:, None]
    best = np.inf
    for d in d0 * np.linspace(0.8, 1.2, 41).astype(np.float32):
        unit = np.where(scales == 0, 1, d * scales)
        q = np.where(scales == 0, 0, np.clip(np.rint(groups / unit), low, high))
        best = min(best, np.square(q * unit - groups).sum(2).min(1).sum())
    return best


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_between_what_theory_allows(kind):
    """Normal weights of deviation 1. No code of b bits a weight has an error below 2^-b (rate and distortion); a
    uniform one of n steps over the range of each group has about that range / n / sqrt(12)."""
    block, size = GGML_QUANT_SIZES[kind]
    group, steps = (AFFINE[kind][0], AFFINE[kind][1]) if kind in AFFINE else (16, 2 * SYMMETRIC[kind][2] + 1)
    samples = np.random.default_rng(0).standard_normal((20000, group))
    width = np.ptp(samples, axis=1) if kind in AFFINE else 2 * np.abs(samples).max(1)
    uniform = np.sqrt(np.mean(np.square(width))) / steps / 12**0.5
    assert 2 ** (-8 * size / block) < error(weights("normal"), kind) < uniform


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden models here")
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_no_worse_than_ggmls_own(kind):
    """The golden files were made by ggml's reference quantizers from the f16 one."""
    exact, theirs = GGUFFile(GOLDEN / "tiny-f16.gguf"), GGUFFile(GOLDEN / f"tiny-{kind.name.lower()}.gguf")
    ours = reference = 0.0
    for name in ("embeddings.weight", "layers.1.attention.wqkv.weight", "layers.2.feed_forward.w2.weight"):
        entry = theirs.tensors[name]
        x = exact.tensors[name].region.data.view(np.float16).astype(np.float32).reshape(entry.shape)
        made = quants.dequantize(entry.region.data.reshape(len(x), -1), entry.type)
        reference += np.square(made - x).sum()
        ours += np.square(quants.dequantize(kquants.quantize(x, kind), kind) - x).sum()
    assert ours < reference


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_weights_without_spread(kind):
    """Zeros stay zeros; one value in all places, or in one, comes back to the accuracy of a float16."""
    rows = np.zeros((6, 256), np.float32)
    rows[1], rows[2], rows[3, 77], rows[4, 5] = 3, -3, 7, -7
    rows[5] = 60000
    made = quants.dequantize(kquants.quantize(rows, kind), kind)
    assert not made[0].any() and np.allclose(made, rows, rtol=1e-3, atol=4e-3)


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e-8, 1e-3, 3e3])
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_weights_of_any_size(kind, scale):
    """What float16 scales cannot hold becomes 0; nothing overflows on the way."""
    x = weights("normal", 2) * np.float32(scale)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        made = quants.dequantize(kquants.quantize(x, kind), kind)
    assert np.isfinite(made).all()
    if scale >= 1e-3:
        assert np.sqrt(np.mean((made - x) ** 2)) < 1.3 * scale * error(weights("normal"), kind)
    else:
        assert np.abs(made).max() <= 2 * np.abs(x).max() + 1e-7


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_rows_are_independent(kind):
    """However a tensor is cut into pieces, its bytes are the same."""
    x = weights("heavy", 4)
    whole = kquants.quantize(x, kind)
    assert whole.dtype == np.uint8 and whole.shape == (4, 10 * GGML_QUANT_SIZES[kind][1])
    assert np.array_equal(whole, np.concatenate([kquants.quantize(row[None], kind) for row in x]))
