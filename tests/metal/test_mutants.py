"""The tests must be able to fail: each fault below, written into a kernel, is caught by a case that passes without
it."""

from dataclasses import dataclass
from unittest import mock

import pytest

from s2mlx.kernels import metal

from . import msl, test_attention, test_codec, test_qmv, test_sampler
from .harness import Case


@dataclass(frozen=True)
class Mutant:
    """`case` with the text `old` replaced by `new` wherever it stands in the kernels."""

    id: str
    old: str
    new: str
    case: Case

    def outputs(self, launch):
        with mock.patch.object(metal, "load", self.load):
            return self.case.outputs(launch)

    def load(self, file):
        mutate = lambda text: text.replace(self.old, self.new)
        return {
            name: metal.Kernel(k.name, k.inputs, k.outputs, mutate(k.header), mutate(k.body))
            for name, k in LOAD(file).items()
        }


LOAD = metal.load


def qmv(format, name="qmv", m=1, rows=5, k=512):
    return test_qmv.case(name, format, m, test_qmv.F32, rows, k)


BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
fast = test_attention.fast(128, 8, 2, 2, 2, True)
step = test_attention.step(64, 2, 1, [9], 16, True)
parts = test_attention.step(64, 4, 2, [40, 37], 16, True, shared=20, body=15)
sample = test_sampler.case(40, test_sampler.SETTINGS[0])
many = test_sampler.case(4097, test_sampler.SETTINGS[2], batch=2, spread=0.35, digits=0)  # ties within a share
convolution = test_codec.conv(37, 40, 24, 7, 3, snake=True)
depthwise = test_codec.depthwise(4, 130)

MUTANTS = [
    Mutant("q8_0: a word at the wrong byte", "block + 2 + 4 * f", "block + 2 + 2 * f", qmv(8)),
    Mutant(
        "q2_k: scale of the wrong group",
        "(words[2 * h + 1] >> shift) & 0x000F",
        "(words[2 * h] >> shift) & 0x000F",
        qmv(10),
    ),
    Mutant("q2_k: minimum left out", "fma(-w.least, less, sum)", "sum", qmv(10)),
    Mutant("q3_k: high bits of the scales", "((high >> 2) & 0x03030303u)", "((high >> 1) & 0x03030303u)", qmv(11)),
    Mutant("q3_k: offset", "-4.0f * DOWN", "0.0f * DOWN", qmv(11)),
    Mutant("q4_k: odd rows take the even ones", "even & 0x00F000F0u", "even & 0x000F000Fu", qmv(12)),
    Mutant("q4_k: minima of the second half", "(head.z >> (2 * h))", "(head.y >> (2 * h))", qmv(12)),
    Mutant("q5_k: high bit of the wrong row", "((t << 2) & 0x10101010u)", "((t << 1) & 0x10101010u)", qmv(13)),
    Mutant("q6_k: scale of the wrong group", "scales[4], scales[6]", "scales[5], scales[6]", qmv(14)),
    Mutant(
        "a word read from an odd half",
        "return uint(halves[0]) | uint(halves[1]) << 16;",
        "return *(const device uint*)p;",
        qmv(14),
    ),
    Mutant("rows past the end are read", "min(first + r, rows - 1)", "(first + r)", qmv(12)),
    Mutant("rows past the end are written", "r < min(R, rows - first)", "r < R", qmv(12, rows=2)),
    Mutant("the last row is not written", "r < min(R, rows - first)", "r + 1 < min(R, rows - first)", qmv(12)),
    Mutant("vectors past the end are written", "m < min(M, vectors)", "m < M", qmv(12, m=3)),
    Mutant("lanes do not meet", "whole += simd_shuffle_xor(whole, ushort(step));", "", qmv(12)),
    Mutant("x is not waited for", BARRIER, "", qmv(12)),
    Mutant("x is overwritten too early", f"if (begin > 0) {BARRIER}", "", qmv(8, m=8, k=1056)),
    Mutant("the second piece of x is left out", "begin += CHUNK", "begin += K", qmv(8, m=8, k=1056)),
    Mutant(
        "a simd sum for some lanes",
        "const float whole = simd_sum(squares[m]);",
        "float whole = 0.0f; if (lane < 16) whole = simd_sum(squares[m]);",
        qmv(12, "qmv_norm"),
    ),
    Mutant(
        "norm without its gain",
        "v = v * float4(float(gain[c])",
        "v = v + 0.0f * float4(float(gain[c])",
        qmv(12, "qmv_norm"),
    ),
    Mutant("norm of one vector for all", "partial[m * SIMDGROUPS + s]", "partial[s]", qmv(12, "qmv_norm", m=3)),
    Mutant(
        "gate and value swapped",
        "gate = sum[m][r], up = sum[m][H + r]",
        "up = sum[m][r], gate = sum[m][H + r]",
        qmv(12, "qmv_norm_swiglu"),
    ),
    Mutant("fast attention: no barrier", "threadgroup_barrier(mem_flags::mem_device);", "", fast),
    Mutant(
        "fast attention: a barrier of the other memory", "mem_flags::mem_device", "mem_flags::mem_threadgroup", fast
    ),
    Mutant("step attention: a barrier that orders nothing", "mem_flags::mem_threadgroup", "mem_flags::mem_none", step),
    Mutant("sampler: a barrier that orders nothing", "mem_flags::mem_threadgroup", "mem_flags::mem_none", sample),
    Mutant("products: a barrier that orders nothing", "mem_flags::mem_threadgroup", "mem_flags::mem_none", qmv(12)),
    Mutant("fast attention: looks ahead", "p <= past + i", "p < past + N", fast),
    Mutant("fast attention: the past is not copied", "v_all[i] = C(values[old + i]);", "", fast),
    Mutant("fast attention: rotated by its place in the pass", "table + (past + i) * D", "table + i * D", fast),
    Mutant("step attention: no barrier", BARRIER, "", step),
    Mutant(
        "step attention: unfilled positions", "simdgroup, newest, SIMDGROUPS", "simdgroup, newest + 1, SIMDGROUPS", step
    ),
    Mutant(
        "step attention: body of another head", "size_t(b * KV_HEADS + kv) * body", "size_t(b * KV_HEADS) * body", parts
    ),
    Mutant("step attention: body not counted", "if (BODY) newest -= lengths[1];", "", parts),
    Mutant("step attention: prefix as long as the body", "lengths[0], SIMDGROUPS", "lengths[1], SIMDGROUPS", parts),
    Mutant(
        "step attention: memory too small",
        "threadgroup float totals[SIMDGROUPS];",
        "threadgroup float totals[SIMDGROUPS - 1];",
        step,
    ),
    Mutant("step attention: the past is not moved", "all_values[to + i] = values[at + i];", "", step),
    Mutant(
        "step attention: the new value goes to another head", "v.store(all_values + to", "v.store(all_values", parts
    ),
    Mutant("step attention: merged without weights", "exp(peaks[s] - peak)", "1.0f", step),
    Mutant("sampler: no barrier", BARRIER, "", sample),
    Mutant("sampler: one side", "const int side = rank & 1;", "const int side = 0;", sample),
    Mutant("sampler: ties by higher index", "a.index < b.index", "a.index > b.index", many),
    Mutant("sampler: exclusive sum", "mass <= top_p", "mass - exp(best.logit - peak) / total <= top_p", sample),
    Mutant("sampler: the end is drawn again", "repeated && token != n - 1", "repeated", sample),
    Mutant("conv: no barrier", BARRIER, "", convolution),
    Mutant("conv: reads past the end", "c < in && time < length", "c < in", convolution),
    Mutant("conv: dilation left out", "tap * DILATION][d", "tap][d", convolution),
    Mutant("conv: past without Snake", "if (SNAKE)", "if (SNAKE && time >= 0)", convolution),
    Mutant("conv: last column not written", "column >= out) continue", "column + 1 >= out) continue", convolution),
    Mutant("depthwise: no barrier", BARRIER, "", depthwise),
]
FILES = ["qmv.metal", "fast_attention.metal", "step_attention.metal", "sampler.metal", "conv.metal", "convnext.metal"]
SOUND = list({m.case.id: m.case for m in MUTANTS}.values())
CASES = MUTANTS + SOUND  # what `compiled` builds


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.id)
def test_fault_is_caught(mutant, compiled):
    sound = [k for file in FILES for k in LOAD(file).values()]
    assert any(mutant.old in k.header + k.body for k in sound), "the text to mutate is gone"
    with mock.patch.object(metal, "load", mutant.load), pytest.raises((msl.ShimError, AssertionError)):
        mutant.case.check()


@pytest.mark.parametrize("case", SOUND, ids=lambda c: c.id)
def test_sound_kernel_passes(case, compiled):
    case.check()
