"""What the inner loop of a product costs for each weight: instructions and loads, counted in clang's intermediate code.
instructions.json keeps what was counted at each step of the work.

    python -m tests.metal.count                  # the table of s2mlx/kernels/README.md; needs clang

Apple's compiler starts from the same intermediate code, and a GPU runs it lane by lane, so it is compiled without
vectors. Counted is the one block that repeats for each unit of a row. Free on Apple's GPUs, and left out: which half of
a register is meant, and a half-precision operand of a float32 operation. Loads of one vector count as one.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import mlx.core as mx

from s2mlx.bench import traffic
from s2mlx.kernels import blocks, qmv

from . import msl
from .harness import kernels

HISTORY = Path(__file__).with_name("instructions.json")
# Older ones do not know half precision everywhere, or write pointers in another way.
COMPILER = next((c for c in ("clang++-19", "clang++-18", "clang++-17", "clang++-16") if shutil.which(c)), None)
WIDTH, ROWS = 2560, 64  # S2 Pro's, and enough rows for every simdgroup
FLAGS = ["-std=c++17", "-O2", "-fno-vectorize", "-fno-slp-vectorize", "-w", "-S", "-emit-llvm", "-DSHIM_COUNT"]
# as Apple's compiler: every function inlined, every short loop unrolled, one loop for all lanes
FLAGS += [f"-mllvm={o}" for o in ("-inline-threshold=1000000", "-unroll-threshold=100000", "-unswitch-threshold=0")]
_INSTRUCTION = re.compile(r"^\s+(?:(%[\w.]+) = )?(?:tail |musttail )?(\w+)")
_FREE = {"phi", "br", "bitcast", "trunc", "zext", "fpext", "getelementptr", "extractelement", "freeze"}


def source(name: str, format: int, vectors: int = 1) -> str:
    """The text of one product."""
    taken: list[str] = []

    def record(kernel, *, inputs, output_shapes, output_dtypes, **request):
        request = {k: v for k, v in request.items() if v}
        taken.append(
            msl.generated_source(
                kernel, inputs=inputs, output_shapes=output_shapes, output_dtypes=output_dtypes, **request
            )
        )
        return [mx.zeros(shape, dtype) for shape, dtype in zip(output_shapes, output_dtypes)]

    w, x = blocks.sample_blocks(format, ROWS, WIDTH), mx.zeros((vectors, WIDTH))
    gain = mx.ones(WIDTH)
    with kernels(record):
        {
            "qmv": lambda: qmv.qmv(w, x, format),
            "qmv_norm": lambda: qmv.qmv_norm(w, x, gain, 1e-6, format),
            "qmv_norm_swiglu": lambda: qmv.qmv_norm_swiglu(w, w, x, gain, 1e-6, format),
        }[name]()
    return taken[-1]


def intermediate(text: str) -> str:
    """clang's code of a kernel."""
    body, call = msl.to_cpp(text, "counted")
    program = f'#include "msl.h"\n{body}\nvoid run(const shim::Ids& ids, void** buffers) {{ {call}; }}\n'
    command = [COMPILER, *FLAGS, "-x", "c++", "-I", msl.SHIM, "-", "-o", "-"]
    ran = subprocess.run(command, input=program, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(ran.stderr[:2000])
    return ran.stdout


def loop(code: str) -> list[str]:
    """The lines of the block that repeats and does most of the arithmetic."""
    best: list[str] = []
    for function in re.findall(r"^define [^\n]*\{\n(.*?)^\}", code, re.M | re.S):
        for block in re.split(r"^(?=[\w.]+:)", function, flags=re.M):
            label = block.split(":", 1)[0]
            lines = block.splitlines()
            if re.search(rf"label %{re.escape(label)}\b", lines[-1] if lines[-1].strip() else lines[-2]):
                best = max(best, lines[1:], key=lambda ls: sum("fma" in line or "fmul" in line for line in ls))
    return best


def cost(lines: list[str]) -> Counter[str]:
    """Instructions by kind: arithmetic (int, convert, float), load, and free ones."""
    found: Counter[str] = Counter()
    defined, used = {}, Counter()
    for line in lines:
        if match := _INSTRUCTION.match(line):
            if match[1]:
                defined[match[1]] = line
            used.update(name for name in re.findall(r"%[\w.]+", line.split("=", 1)[-1]))
    only_truncated = Counter(
        name for line in lines if " = trunc " in line for name in re.findall(r"%[\w.]+", line.split("=", 1)[1])
    )
    end: dict[str, tuple[int, int]] = {}  # of a vector's load: (next byte, bytes left)
    for line in lines:
        match = _INSTRUCTION.match(line)
        if not match:
            continue
        kind = match[2]
        if kind == "call":
            kind = (
                "half"
                if "fp16" in line
                else "float"
                if re.search(r"@(llvm\.)?fma", line)
                else "int"
                if "@llvm" in line
                else "call"
            )
        elif kind == "load":
            root, at = _address(re.search(r"ptr ([%@][\w.]+)", line)[1], defined)
            many, scalar = re.search(r" = load (?:<(\d+) x )?(\w+)", line).groups()
            size = int(many or 1) * {"i8": 1, "i16": 2, "half": 2, "bfloat": 2}.get(scalar, 4)
            align = int(re.search(r"align (\d+)", line)[1])
            following, left = end.get(root, (-1, 0))
            if at == following and left >= size:
                end[root] = at + size, left - size
                kind = "free"
            else:
                end[root] = at + size, align - size
        elif kind == "lshr" and line.rstrip().endswith(", 16") and only_truncated[match[1]] == used[match[1]]:
            kind = "free"
        elif kind in _FREE:
            kind = "half" if kind == "fpext" and "half" in line else "free"
        elif kind in ("uitofp", "sitofp"):
            kind = "convert"
        elif kind in ("fadd", "fmul", "fsub", "fneg"):
            kind = "float"
        elif kind in ("and", "or", "xor", "shl", "lshr", "ashr", "add", "sub", "mul", "icmp", "select", "sext"):
            kind = "int"
        found[kind] += 1
    return found


def _address(name: str, defined: dict[str, str]) -> tuple[str, int]:
    """A pointer as one that is not reckoned from another by a constant, and the bytes from there."""
    at = 0
    while match := re.search(
        r"getelementptr (?:inbounds )?(?:nuw )?i8, ptr (%[\w.]+), i64 (-?\d+)$", defined.get(name, "")
    ):
        name, at = match[1], at + int(match[2])
    return name, at


def figures(name: str, format: int) -> dict[str, float]:
    """Instructions for each weight by kind, with one vector; `half`: operands of half precision, which are free."""
    found = cost(loop(intermediate(source(name, format))))
    weights = 4 * blocks.FORMATS[format].unit  # a team's rows, a unit of each
    return {kind: round(found[kind] / weights, 2) for kind in ("int", "convert", "float", "load", "half")}


def row(format: int) -> dict[str, float]:
    """What a weight of this format costs in a product with the norm: instructions that take time, loads among them,
    and its bytes in the file."""
    found, f = figures("qmv_norm", format), blocks.FORMATS[format]
    spent = sum(n for kind, n in found.items() if kind != "half")
    return {"instructions": round(spent, 2), "loads": found["load"], "bytes": round(f.bytes / f.weights, 2)}


def table() -> str:
    """Today's figures beside those of the first kernels, as Markdown."""
    first = json.loads(HISTORY.read_text())[0]["formats"]
    lines = ["| format | bytes | instructions, first kernels | now | loads, first kernels | now |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    for format, f in blocks.FORMATS.items():
        now, then = row(format), first[f.name]
        lines.append(
            f"| {f.name} | {now['bytes']} | {then['instructions']} | {now['instructions']} | {then['loads']} | "
            f"{now['loads']} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    if COMPILER is None:
        sys.exit("clang 16 or newer is needed")
    print(table())
    print(f"\nVectors and gains read a frame: {traffic.vector_bytes() / 1e9:.1f} GB")
