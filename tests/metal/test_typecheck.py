"""Clang's opinion of every kernel text the other tests run, and of texts that are wrong on purpose."""

import mlx.core as mx
import pytest

from . import msl, test_attention, test_codec, test_qmv, test_sampler
from .typecheck import faults

pytest.importorskip("clang.cindex", reason="libclang is not installed")

SOUND = """
  uint row = threadgroup_position_in_grid.y, n = x_shape[1];
  threadgroup float part[32];
  const device float* px = x + row * n;
  float sum = 0.0f;
  for (uint i = 0; i < n; i++) sum += px[i] * 0.5f;
  sum = simd_sum(sum);
  if (thread_index_in_simdgroup == 0) part[simdgroup_index_in_threadgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[row * n] = T(part[0] + float(few[0]));
"""


def generated(source):
    kernel = mx.fast.metal_kernel(name="typed", input_names=["x", "few"], output_names=["y"], source=source)
    return msl.generated_source(
        kernel,
        inputs=[mx.zeros((5, 300)), mx.zeros(4)],
        template=[("T", mx.float16)],
        grid=(128, 5, 1),
        threadgroup=(128, 1, 1),
        output_shapes=[(5, 300)],
        output_dtypes=[mx.float16],
    )


def test_sound_text():
    assert faults(generated(SOUND)) == []


@pytest.mark.parametrize(
    "old, new",
    [
        ("const device float* px", "const float* px"),
        ("const device float* px", "const threadgroup float* px"),
        ("const device float* px", "const device half* px"),
        # an input of fewer than 8 elements is `constant`
        ("const device float* px = x", "const device float* pf = few; const device float* px = x"),
        ("const device float* px", "device float* px"),
        ("const device float* px", "thread const device float** pp; const device float* px"),
        ("simd_sum(sum)", "simd_summ(sum)"),
        ("simd_sum(sum)", "std::abs(sum)"),
        ("y[row * n]", "x[row * n]"),
        ("float sum", "double sum"),
        ("0.5f", "0.5"),
    ],
)
def test_fault_is_seen(old, new):
    assert old in SOUND
    assert faults(generated(SOUND.replace(old, new)))


@pytest.mark.parametrize("module", [test_qmv, test_attention, test_sampler, test_codec], ids=lambda m: m.__name__)
def test_kernels(module):
    recorder = msl.Recorder()
    for case in module.CASES:
        case.outputs(recorder.launch)
    assert recorder.sources
    assert {fault for source in recorder.sources for fault in faults(source)} == set()
