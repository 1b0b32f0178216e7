"""Matrix-vector kernels over raw blocks, and opening blocks: every format against plain MLX and against gguf."""

import gguf
import mlx.core as mx
import numpy as np
import pytest

from s2mlx.kernels import blocks, dequantize, qmv

from .harness import Case, kernels, normal

FORMATS = list(blocks.FORMATS)
F32, F16, BF16 = mx.float32, mx.float16, mx.bfloat16


def weights(format, rows, k, seed=0):
    return blocks.sample_blocks(format, rows, k, seed)


def case(name, format, m, dtype, rows, k):
    """A product with m vectors; rows need not fill the tile, k is any multiple of the block."""

    def arguments():
        x, gain = normal(m, k, dtype=dtype), normal(k, seed=1) * 0.2 + 1
        w = weights(format, rows, k)
        return {
            "qmv": lambda: (w, x, format),
            "qmv_norm": lambda: (w, x, gain, 1e-6, format),
            "qmv_add": lambda: (w, x, normal(m, rows, seed=2, dtype=dtype), format),
            "qmv_norm_swiglu": lambda: (w, weights(format, rows, k, 1), x, gain, 1e-6, format),
        }[name]()

    id = f"{name}-{blocks.FORMATS[format].name}-m{m}-{str(dtype).split('.')[-1]}-{rows}x{k}"
    return Case(id, getattr(qmv, name), arguments, tolerance=1e-5)


CASES = [
    case(name, format, m, dtype, rows, k)
    for format in FORMATS
    for name, m, dtype, rows, k in [
        ("qmv", 1, F32, 1, 256),
        ("qmv", 1, F16, 13, 2560),
        ("qmv", 3, BF16, 9, 768),
        ("qmv", 8, F32, 6, 512),
        ("qmv_add", 1, F16, 7, 512),
        ("qmv_add", 4, F32, 3, 256),
        ("qmv_norm", 1, BF16, 10, 768),
        ("qmv_norm", 2, F32, 8, 512),
        ("qmv_norm_swiglu", 1, F32, 5, 768),
        ("qmv_norm_swiglu", 5, F16, 4, 256),
    ]
]
CASES += [case("qmv", 12, m, F32, 5, 512) for m in (2, 4, 5, 6, 7)]
CASES += [case(name, 8, m, F32, 5, 64) for m in (9, 20) for name in ("qmv", "qmv_add", "qmv_norm", "qmv_norm_swiglu")]
CASES += [case("qmv", 8, 1, F32, 3, k) for k in (32, 96, 1056)]  # Q8_0 has blocks of 32
# longer than what is staged at once, in pieces that end anywhere
CASES += [case(name, 8, m, F32, 70, 1056) for name, m in (("qmv_norm", 8), ("qmv_add", 5))]
CASES += [case("qmv", 12, 1, F16, 3, 9728), case("qmv_norm", 1, 1, F32, 3, 4112)]
for format in FORMATS:
    for dtype in (F32, F16, BF16):
        CASES.append(
            Case(
                f"dequantize-{format}-{dtype}",
                dequantize.dequantize,
                lambda f=format, t=dtype: (weights(f, 3, 768), f, t),
                tolerance=0,
            )
        )
    CASES.append(
        Case(
            f"rows-{format}",
            dequantize.dequantize_rows,
            lambda f=format: (weights(f, 9, 512), mx.array([[8, 0, 3], [3, 3, 7]], mx.int32), f),
            tolerance=0,
        )
    )


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_kernel_equals_reference(case, compiled):
    case.check()


@pytest.mark.parametrize("format", FORMATS)
def test_reference_equals_gguf(format):
    w = weights(format, 4, 512)
    kind = gguf.GGMLQuantizationType(format)
    wanted = np.array(w).view(np.float32) if kind.name == "F32" else gguf.quants.dequantize(np.array(w), kind)
    assert np.array_equal(np.array(blocks.dequantize_reference(w, format)), wanted)
    ids = mx.array([3, 1], mx.int32)
    assert np.array_equal(np.array(dequantize.dequantize_rows_reference(w, ids, format)), wanted[[3, 1]])


@pytest.mark.parametrize("vectors, launches", [(3, [4]), (8, [8]), (9, [8, 1]), (32, [8] * 4), (33, []), (0, [])])
def test_a_batch_takes_several_launches_and_a_prompt_none(vectors, launches):
    taken = []

    def launch(kernel, *, template, output_shapes, **request):
        taken.append(dict(template).get("M"))
        return [mx.zeros(shape) for shape in output_shapes]

    with kernels(launch):
        assert qmv.qmv(weights(12, 4, 256), normal(vectors, 256), 12).shape == (vectors, 4)
    assert [m for m in taken if m] == launches


def test_leading_dimensions_pass_through(compiled):
    w, x = weights(8, 3, 96), normal(1, 1, 96)
    with kernels():
        assert qmv.qmv(w, x, 8).shape == (1, 1, 3)
