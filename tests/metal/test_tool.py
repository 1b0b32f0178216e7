"""The tool itself: its types round as MLX does, its thread machine catches what a GPU would leave to luck."""

import mlx.core as mx
import numpy as np
import pytest

from . import msl

ROW_SUM = """
  const uint n = x_shape[1], t = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.y;
  threadgroup float part[4];
  float sum = 0.0f;
  for (uint i = t; i < n; i += 128) sum += float(x[row * n + i]);
  sum = simd_sum(sum);
  if (thread_index_in_simdgroup == 0) part[simdgroup_index_in_threadgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) y[row] = part[0] + part[1] + part[2] + part[3];
"""


@pytest.fixture(scope="module", autouse=True)
def compiler():
    if msl.compiler() is None:
        pytest.skip("no C++ compiler with address and undefined-behaviour sanitizers")


def kernel(source, inputs=("x",)):
    return mx.fast.metal_kernel(name="tool", input_names=list(inputs), output_names=["y"], source=source)


def row_sum(source=ROW_SUM, launch=msl.launch, width=1):
    x = mx.array(np.random.default_rng(0).standard_normal((3, 300)).astype(np.float32))
    (y,) = launch(
        kernel(source),
        inputs=[x],
        grid=(128, 3, 1),
        threadgroup=(128, 1, 1),
        output_shapes=[(3 * width,)],
        output_dtypes=[mx.float32],
    )
    return y, mx.sum(x, axis=1)


BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
FAULTS = [
    (BARRIER, "", "depends on the order of threads"),
    (BARRIER, f"if (t < 64) {BARRIER}", "barrier"),
    ("sum = simd_sum(sum);", "if (t % 2 == 0) sum = simd_sum(sum);", "deadlock|not reached"),
    ("sum = simd_sum(sum);", "if (t % 2 == 0) sum = simd_sum(sum);\n else sum = simd_sum(sum);", "two different calls"),
    ("i < n; i += 128", "i <= n; i += 128", "heap-buffer-overflow"),
    ("part[4]", "part[3]", "out of bounds"),
    ("float(x[row * n + i])", "*(const device float*)((const device uint8_t*)x + 1)", "misaligned"),
    ("float sum = 0.0f", "float sum = float(1 << n)", "shift exponent"),
    ("part[4]", "part[9000]", "32 KiB"),
]
# Through device memory: y itself holds the parts.
THROUGH_DEVICE = """
  const uint n = x_shape[1], t = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.y;
  device float* part = y + 4 * row;
  float sum = 0.0f;
  for (uint i = t; i < n; i += 128) sum += float(x[row * n + i]);
  sum = simd_sum(sum);
  if (thread_index_in_simdgroup == 0) part[simdgroup_index_in_threadgroup] = sum;
  threadgroup_barrier(mem_flags::FLAGS);
  const float whole = part[0] + part[1] + part[2] + part[3];
  threadgroup_barrier(mem_flags::FLAGS);
  if (t < 4) part[t] = isnan(whole) ? -1.0f : whole;
"""
SILENT = "if (row != 1) y[row] ="


@pytest.fixture(scope="module")
def compiled():
    recorder = msl.Recorder()
    faulty = [ROW_SUM.replace(old, new) for old, new, _ in FAULTS]
    for source in [ROW_SUM, ROW_SUM.replace("y[row] =", SILENT), *faulty, *map(ordering, ("mem_none", "mem_device"))]:
        row_sum(source, recorder.launch)
    for flags in MEMORY:
        row_sum(THROUGH_DEVICE.replace("FLAGS", flags), recorder.launch, 4)
    recorder.compile()


def test_sound_kernel(compiled):
    y, wanted = row_sum()
    assert mx.allclose(y, wanted, atol=1e-4)


@pytest.mark.parametrize("old, new, message", FAULTS, ids=lambda v: v[:40])
def test_fault_is_named(old, new, message, compiled):
    assert old in ROW_SUM
    with pytest.raises(msl.ShimError, match=message):
        row_sum(ROW_SUM.replace(old, new))


MEMORY = ["mem_none", "mem_device", "mem_threadgroup"]


def ordering(flags):
    return ROW_SUM.replace("mem_flags::mem_threadgroup", f"mem_flags::{flags}")


@pytest.mark.parametrize("flags", ["mem_none", "mem_device"])
def test_a_barrier_that_does_not_name_threadgroup_memory_does_not_order_it(flags, compiled):
    y, _ = row_sum(ordering(flags))
    assert np.isnan(np.array(y)).all()


@pytest.mark.parametrize("flags", MEMORY)
def test_a_barrier_orders_device_memory_only_where_it_names_it(flags, compiled):
    y, wanted = row_sum(THROUGH_DEVICE.replace("FLAGS", flags), width=4)
    if flags == "mem_device":
        assert mx.allclose(y.reshape(3, 4), mx.broadcast_to(wanted[:, None], (3, 4)), atol=1e-4)
    else:
        assert (np.array(y) == -1).all()  # nobody saw a part; and what was written last is what stays


def test_syntax_error():
    with pytest.raises(msl.ShimError, match="does not compile"):
        row_sum(ROW_SUM.replace("float sum = 0.0f;", "float sum = 0.0f"))


def test_unwritten_output_is_nan(compiled):
    y, _ = row_sum(ROW_SUM.replace("y[row] =", SILENT))
    assert np.isnan(np.array(y)).tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16], ids=str)
def test_conversions_round_as_mlx(dtype):
    """Every 16-bit number to float, and floats around every one of them back: ties, subnormals, infinity, NaN."""
    bits = np.arange(65536, dtype=np.uint32)
    floats = np.array(mx.array(bits.astype(np.uint16)).view(dtype).astype(mx.float32))
    near = (floats.view(np.uint32)[:, None] + np.array([-1, 0, 1, 4095, 4096, 4097, 32768], np.int64)) & 0xFFFFFFFF
    x = mx.array(near.astype(np.uint32).view(np.float32).reshape(-1))
    source = "for (uint i = thread_position_in_grid.x; i < uint(x_shape[0]); i += 64) y[i] = float(T(x[i]));"
    (y,) = msl.launch(
        kernel(source),
        inputs=[x],
        orders=1,
        template=[("T", dtype)],
        grid=(64, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[mx.float32],
    )
    assert np.array_equal(np.array(y), np.array(x.astype(dtype).astype(mx.float32)), equal_nan=True)


def test_matrix_product():
    """One 8x8 product, each lane placing its two elements where the hardware keeps them."""
    source = """
      const uint lane = thread_index_in_simdgroup;
      const uint at = ((lane / 4 & 4) + lane / 2 % 4) * 8 + (lane / 4 & 2) * 2 + lane % 2 * 2;
      simdgroup_float8x8 a, b, c;
      for (int i = 0; i < 2; i++) {
        a.thread_elements()[i] = x[at + i];
        b.thread_elements()[i] = z[at + i];
        c.thread_elements()[i] = 1.0f;
      }
      simdgroup_multiply_accumulate(c, a, b, c);
      for (int i = 0; i < 2; i++) y[at + i] = c.thread_elements()[i];
    """
    a, b = (mx.array(np.random.default_rng(s).standard_normal((8, 8)).astype(np.float32)) for s in (0, 1))
    (y,) = msl.launch(
        kernel(source, ("x", "z")),
        inputs=[a, b],
        grid=(32, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[(8, 8)],
        output_dtypes=[mx.float32],
    )
    assert mx.allclose(y, a @ b + 1, atol=1e-5)
