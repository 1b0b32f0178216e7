"""Every block format against ggml's own Python reference, bit for bit."""

import mlx.core as mx
import numpy as np
import pytest
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from s2mlx.weights import affine, block_formats

from .gguf_maker import SCALES, random_blocks

KINDS = sorted(block_formats.SUPPORTED)
QUANTIZED = [kind for kind in KINDS if kind not in block_formats.FLOATS]
name_of = lambda kind: kind.name


def reference(raw, kind):
    return np.asarray(quants.dequantize(raw, kind), np.float32)


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_values_are_those_of_the_reference(kind, rows):
    raw = random_blocks((rows, 768), kind, np.random.default_rng(rows), 1.0)
    assert np.array_equal(np.array(block_formats.decode(mx.array(raw), kind)), reference(raw, kind))


@pytest.mark.parametrize("kind", QUANTIZED, ids=name_of)
def test_scales_of_any_size_give_the_same_values(kind):
    """Subnormal, huge and negative scales: the float16 numbers of a block take any bits but those of inf and NaN."""
    rng = np.random.default_rng(5)
    block, size = GGML_QUANT_SIZES[kind]
    raw = rng.integers(0, 256, (5, 40 * size), np.uint8)
    cut = raw.reshape(5, 40, size)
    for at in SCALES[kind]:
        if at is not None:
            cut[..., at + 1] &= 0xBB  # clears the exponent's lowest set bit: never all ones
    assert np.array_equal(np.array(block_formats.decode(mx.array(raw), kind)), reference(raw, kind))


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_rows_are_as_long_as_their_blocks(kind):
    assert block_formats.columns(random_blocks((1, 512), kind, np.random.default_rng(0)).shape[1], kind) == 512


@pytest.mark.parametrize("kind", sorted(affine.KINDS), ids=name_of)
def test_repacked_values_are_exact_for_mlx_and_for_us(kind):
    raw = random_blocks((5, 512), kind, np.random.default_rng(1), 1.0)
    packed = affine.pack(mx.array(raw), kind)
    bits = affine.BITS[kind]
    mlx = mx.dequantize(*packed, group_size=affine.GROUP, bits=bits)
    assert packed[0].shape == (5, 512 * bits // 32)
    assert np.array_equal(np.array(mlx), reference(raw, kind))
    assert np.array_equal(np.array(affine.values(*packed, bits)), reference(raw, kind))


def test_formats_with_groups_of_16_are_not_repacked():
    """MLX has no kernel for them: they would come back wrong."""
    T = GGMLQuantizationType
    assert affine.KINDS.isdisjoint({T.Q2_K, T.Q3_K, T.Q6_K})
