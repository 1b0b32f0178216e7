"""A product costs no more instructions than it did; whoever makes it cheaper adds a step to instructions.json."""

import json
from pathlib import Path

import pytest

from s2mlx.kernels import blocks

from . import count

STEPS = json.loads(count.HISTORY.read_text(encoding="utf-8"))
FRAME = json.loads((Path(__file__).parents[1] / "bench" / "frame_graph.json").read_text(encoding="utf-8"))
BLOCK = """
  %1 = load <2 x float>, ptr %0, align 16
  %2 = getelementptr inbounds i8, ptr %0, i64 8
  %3 = load <2 x float>, ptr %2, align 8
  %4 = load i16, ptr %9, align 2
  %5 = lshr i32 %8, 16
  %6 = trunc nuw i32 %5 to i16
  %7 = bitcast i16 %6 to half
  %10 = fpext half %7 to float
  %11 = tail call float @llvm.fma.f32(float %10, float %10, float %10)
  %12 = uitofp i32 %8 to float
  %13 = and i32 %8, 15
"""


def test_the_counter_counts():
    """A vector is one load, a half of a register and a half-precision operand are free."""
    found = count.cost(BLOCK.strip("\n").splitlines())
    wanted = {"load": 2, "half": 1, "float": 1, "convert": 1, "int": 1}
    assert {kind: n for kind, n in found.items() if kind != "free"} == wanted


def test_k_quants_take_half_of_what_they_took():
    first, last = STEPS[0]["formats"], STEPS[-1]["formats"]
    assert FRAME[-1]["kernels"]["instructions"] == {name: row["instructions"] for name, row in last.items()}
    assert all(last[name]["instructions"] < 0.55 * first[name]["instructions"] for name in last if name.endswith("_K"))


@pytest.mark.parametrize("format", [12, 14, 8], ids=lambda f: blocks.FORMATS[f].name)
def test_no_more_instructions_than_before(format):
    if count.COMPILER is None:
        pytest.skip("clang 16 or newer is not installed")
    found, last = count.row(format), STEPS[-1]["formats"][blocks.FORMATS[format].name]
    assert 0.9 * last["instructions"] < found["instructions"] <= 1.02 * last["instructions"]
    assert found["loads"] <= 1.1 * last["loads"]
