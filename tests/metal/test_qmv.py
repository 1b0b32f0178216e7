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


def case(name, format, m, dtype, rows, k, size=1.0, seed=0):
    """A product with m vectors; rows need not fill the tile, k is any multiple of the block. With a small `size` the
    norm's eps counts. seed: of x."""

    def arguments():
        x, gain = (normal(m, k, seed=seed) * size).astype(dtype), normal(k, seed=1) * 0.2 + 1
        w = weights(format, rows, k)
        return {
            "qmv": lambda: (w, x, format),
            "qmv_norm": lambda: (w, x, gain, 1e-6, format),
            "qmv_add": lambda: (w, x, normal(m, rows, seed=2, dtype=dtype), format),
            "qmv_norm_swiglu": lambda: (w, weights(format, rows, k, 1), x, gain, 1e-6, format),
        }[name]()

    id = f"{name}-{blocks.FORMATS[format].name}-m{m}-{str(dtype).split('.')[-1]}-{rows}x{k}-{size}"
    return Case(id, getattr(qmv, name), arguments, tolerance=1e-5)


CASES = [
    case(name, format, m, dtype, rows, k, seed=seed)
    for format in FORMATS
    for name, m, dtype, rows, k, seed in [
        ("qmv", 1, F32, 1, 256, 0),
        ("qmv", 1, F16, 13, 2560, 0),
        ("qmv", 3, BF16, 9, 768, 0),
        ("qmv", 8, F32, 6, 512, 0),
        ("qmv_add", 1, F16, 7, 512, 0),
        ("qmv_add", 4, F32, 3, 256, 0),
        ("qmv_norm", 1, BF16, 10, 768, 0),
        ("qmv_norm", 2, F32, 8, 512, 0),
        ("qmv_norm_swiglu", 1, F32, 5, 768, 2),  # of seed 0 all rows of Q4_K nearly cancel
        ("qmv_norm_swiglu", 5, F16, 4, 256, 0),
    ]
]
CASES += [case("qmv", 12, m, F32, 5, 512) for m in (2, 4, 5, 6, 7)]
CASES += [case(name, 8, m, F32, 5, 64) for m in (9, 20) for name in ("qmv", "qmv_add", "qmv_norm", "qmv_norm_swiglu")]
CASES += [case("qmv", 8, 1, F32, 3, k) for k in (32, 96, 1056)]  # Q8_0 has blocks of 32
CASES += [case("qmv_norm", 12, 1, F32, 3, 512, size=1e-3)]
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


@pytest.mark.parametrize(
    "name, m, rows, k, groups, threads",
    [
        ("qmv", 1, 64, 512, 2, 128),  # 4 simdgroups of two teams of 4 rows
        ("qmv", 1, 65, 512, 3, 128),
        ("qmv_add", 2, 64, 512, 4, 128),  # of 2 rows
        ("qmv_norm", 1, 64, 512, 1, 256),  # 8 simdgroups
        ("qmv_norm", 8, 64, 512, 2, 256),
        ("qmv_norm_swiglu", 1, 64, 512, 2, 256),  # half of the rows each
        ("qmv_norm_swiglu", 3, 64, 512, 4, 256),
    ],
)
def test_as_many_threads_as_there_are_rows(name, m, rows, k, groups, threads):
    seen = []

    def launch(kernel, *, grid, threadgroup, template, output_shapes, output_dtypes, **request):
        if "M" in dict(template):
            seen.append((grid, threadgroup))
        return [mx.zeros(shape, dtype) for shape, dtype in zip(output_shapes, output_dtypes)]

    made = case(name, 12, m, F32, rows, k)
    with kernels(launch):
        made.call(*made.arguments())
    assert seen == [((groups * threads, 1, 1), (threads, 1, 1))]


@pytest.mark.parametrize("vectors, chunk", [(1, 2560), (2, 2048), (4, 1024), (8, 512)])
def test_what_is_staged_fits(vectors, chunk):
    """Of S2 Pro's width; at most 16 KB, and never more than there is."""
    assert qmv._chunk(2560, vectors) == chunk and 4 * vectors * chunk <= 16384
    assert qmv._chunk(32, vectors) == 512 and qmv._chunk(9728, 1) == 4096


@pytest.mark.parametrize("format", [f for f, kind in blocks.FORMATS.items() if kind.name in blocks._SCALES])
def test_sample_blocks_hold_subnormal_scales(format):
    f = blocks.FORMATS[format]
    raw = np.array(weights(format, 3, 2 * f.weights)).reshape(-1, f.bytes)
    for at, _ in blocks._SCALES[f.name]:
        scales = raw[:, at : at + 2].copy().view(np.float16)
        assert (scales > 0).all() and {bool(s) for s in (scales < np.finfo(np.float16).tiny).ravel()} == {True, False}


def test_leading_dimensions_pass_through(compiled):
    w, x = weights(8, 3, 96), normal(1, 1, 96)
    with kernels():
        assert qmv.qmv(w, x, 8).shape == (1, 1, 3)
