"""Runs Metal kernels without Metal: the exact text that MLX would hand to Apple's compiler, compiled as C++ and run on
the CPU.

`launch` takes what `mx.fast.metal_kernel` takes and returns its outputs. It raises `ShimError` when the text does not
compile, when a sanitizer or the thread machine (shim/machine.h) objects, or when the result depends on the order of
threads. Compiled programs are kept in `build/msl`; `precompile` puts many specializations into few programs, since
compiling is what costs time. Nothing here knows what the kernels compute.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mlx.core as mx
import numpy as np

SHIM = Path(__file__).parent / "shim"
CACHE = Path(__file__).parents[2] / "build" / "msl"
ORDERS = 3  # forward, backward, shuffled
PROGRAMS = 2  # compiled side by side by `precompile`
SHARED = 8  # kernels of a program, about
# macOS shows contexts to those who name a standard, and everything else to those who name Darwin.
SYSTEM = ["-D_XOPEN_SOURCE=700", "-D_DARWIN_C_SOURCE"] if sys.platform == "darwin" else []
FLAGS = [*SYSTEM, "-std=c++17", "-O0", "-g1", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# bfloat16 travels as its bits
NUMPY = {
    mx.float32: np.float32,
    mx.float16: np.float16,
    mx.bfloat16: np.uint16,
    mx.uint8: np.uint8,
    mx.int8: np.int8,
    mx.uint16: np.uint16,
    mx.int32: np.int32,
    mx.uint32: np.uint32,
    mx.bool_: np.uint8,
}


# Needs what the shim needs: contexts that can be switched, and both sanitizers.
PROBE = """
#include <ucontext.h>
static ucontext_t here, there;
static char stack[1 << 16];
static volatile int been;
static void visit() { been = 1; swapcontext(&there, &here); }
int main() {
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  makecontext(&there, visit, 0);
  swapcontext(&here, &there);
  return been ? 0 : 1;
}
"""


class ShimError(RuntimeError):
    """The kernel is wrong: it does not compile, reads or writes where it must not, or races."""


@cache
def compiler() -> str | None:
    """The C++ compiler that can build the programs, or None."""
    for name in filter(None, (os.environ.get("CXX"), "clang++", "g++")):
        path = shutil.which(name)
        if path is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            probe = Path(folder) / "probe.cpp"
            probe.write_text(PROBE)
            built = subprocess.run([path, *FLAGS, probe, "-o", Path(folder) / "probe"], capture_output=True)
            if built.returncode == 0 and subprocess.run([Path(folder) / "probe"]).returncode == 0:
                return path
    return None


# ---- from an mx.fast.metal_kernel to its text


def generated_source(kernel, *, inputs, **launch) -> str:
    """The text MLX generates for one launch, signature included. Tracing for export asks for no Metal device."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as captured:
        kept = os.dup(1)
        os.dup2(captured.fileno(), 1)
        try:
            mx.export_function(
                os.path.join(folder, "traced.mlxfn"),
                lambda *arrays: kernel(inputs=list(arrays), verbose=True, **launch),
                *inputs,
            )
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        captured.seek(0)
        text = captured.read().decode()
    return text.split("```\n", 1)[1].rsplit("```", 1)[0]


@dataclass(frozen=True)
class Parsed:
    """Generated text taken apart: `body` without the instantiation, the name to call, and its parameters."""

    body: str
    call: str  # e.g. custom_kernel_qmv<float, 1>
    parameters: list[tuple[str, str]]  # (declaration, attribute)

    @property
    def buffers(self) -> list[str]:
        """Names of the buffers, in their order."""
        return [
            re.sub(r"[&*]", " ", declaration).split()[-1]
            for declaration, attribute in self.parameters
            if attribute.startswith("buffer")
        ]


def parse(source: str) -> Parsed:
    instance = re.search(
        r'template \[\[host_name\("[^"]*"\)\]\] \[\[kernel\]\] decltype\((.*?)\) .*?;\s*$', source, re.S
    )
    body = source[: instance.start()] if instance else source
    head = re.search(r"\[\[kernel\]\]\s+void\s+(\w+)\s*\((.*?)\)\s*\{", body, re.S)
    parameters = re.findall(r"\s*([^,\[]+?)\s*\[\[([^\]]*)\]\]", head.group(2))
    return Parsed(body, instance.group(1) if instance else head.group(1), parameters)


def without_includes(text: str) -> str:
    """Apple's headers are what the shim stands in for."""
    return re.sub(r"^#include <metal_\w+>$", "", text, flags=re.M)


def to_cpp(source: str, namespace: str) -> tuple[str, str]:
    """C++ text of one kernel in its own namespace, and the expression that calls it with `ids` and `buffers`."""
    parsed = parse(source)
    arguments, number = [], 0
    for declaration, attribute in parsed.parameters:
        if not attribute.startswith("buffer"):
            arguments.append(f"ids.{attribute}")
            continue
        kind = re.sub(r"\b(device|constant)\b", "", declaration.rsplit(None, 1)[0]).strip()
        value = f"({kind.replace('&', '*')})buffers[{number}]"
        arguments.append("*" + value if "&" in kind else value)
        number += 1
    body = without_includes(parsed.body)
    body = re.sub(r"\[\[(buffer\(\d+\)|[a-z_]+)\]\]", "", body)
    # `threadgroup float tile[4][33];` becomes a reference to the group's memory of that declaration
    body = re.sub(
        r"(^|[;{}]|\n)(\s*)threadgroup\s+(\w+)\s+(\w+)\s*((?:\[[^\]]*\])*)\s*;",
        r"\1\2static const char \4_declared = 0; "
        r"\3 (&\4)\5 = *(\3 (*)\5)shim::threadgroup_memory(&\4_declared, sizeof(\3\5));",
        body,
    )
    body = re.sub(r"\blong\b", "shim_long", body)
    return f"namespace {namespace} {{\n{body}\n}}\n", f"{namespace}::{parsed.call}({', '.join(arguments)})"


# ---- from text to a program

_programs: dict[str, tuple[Path, int]] = {}  # generated text -> (program, index of the kernel in it)


def compile_sources(sources: list[str]) -> None:
    """One program that holds the kernels of all `sources`, found by `launch` from then on."""
    parts = [to_cpp(source, f"kernel_{i}") for i, source in enumerate(sources)]
    table = "\n".join(f"  [](const shim::Ids& ids, void** buffers) {{ {call}; }}," for _, call in parts)
    text = (
        f'#include "msl.h"\n{"".join(body for body, _ in parts)}\n'
        f'static void (*const shim_kernels[])(const shim::Ids&, void**) = {{\n{table}\n}};\n#include "main.h"\n'
    )
    shim = "".join(path.read_text() for path in sorted(SHIM.glob("*.h")))
    key = hashlib.sha256("\0".join([text, shim, str(compiler()), *FLAGS]).encode()).hexdigest()[:20]
    program = CACHE / key
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = CACHE / f"{key}.{os.getpid()}"
        source = CACHE / f"{key}.{os.getpid()}.cpp"
        source.write_text(text)
        built = subprocess.run([compiler(), *FLAGS, "-I", SHIM, source, "-o", fresh], capture_output=True, text=True)
        if built.returncode:
            raise ShimError(
                "does not compile:\n" + "\n".join(line for line in built.stderr.splitlines() if "error" in line)[:2000]
            )
        fresh.replace(program)
        source.unlink()
    _programs.update((source, (program, i)) for i, source in enumerate(sources))


# ---- from a program to results


def launch(
    kernel, *, inputs, grid, threadgroup, output_shapes, output_dtypes, template=(), orders=ORDERS
) -> list[mx.array]:
    """As calling an `mx.fast.metal_kernel`; each thread order must give the same bytes."""
    inputs = [mx.contiguous(i) for i in inputs]
    mx.eval(inputs)
    request = dict(grid=grid, threadgroup=threadgroup, output_shapes=output_shapes, output_dtypes=output_dtypes)
    if template:
        request["template"] = list(template)
    source = generated_source(kernel, inputs=inputs, **request)
    if source not in _programs:
        compile_sources([source])
    program, index = _programs[source]

    buffers = _bind(parse(source).buffers, inputs)
    outputs = [
        np.full(int(np.prod(shape)) * np.dtype(NUMPY[t]).itemsize, 0xFF, np.uint8)  # NaN: unwritten shows
        for shape, t in zip(output_shapes, output_dtypes)
    ]
    buffers += [(out, 1) for out in outputs]
    results = _run(program, [index, *grid, *threadgroup, orders, len(buffers)], buffers, [o.nbytes for o in outputs])
    for order, other in enumerate(results[1:], 1):
        for i, (a, b) in enumerate(zip(results[0], other)):
            if a != b:
                raise ShimError(f"output {i} depends on the order of threads (0 against {order}): a race")
    return [_to_mlx(raw, shape, dtype) for raw, shape, dtype in zip(results[0], output_shapes, output_dtypes)]


def _bind(names: list[str], inputs: list[mx.array]) -> list[tuple[np.ndarray, int]]:
    """(bytes, is_output) per input buffer: each input, and after it the shape, strides and ndim the text asks for."""
    buffers, rest, current = [], iter(inputs), None
    remaining = len(inputs)
    for name in names:
        if current is not None and name.endswith("_shape"):
            buffers.append((np.array(current.shape, np.int32), 0))
        elif current is not None and name.endswith("_ndim"):
            buffers.append((np.array([current.ndim], np.int32), 0))
        elif remaining:
            current, remaining = next(rest), remaining - 1
            buffers.append((np.array(current.view(mx.uint16) if current.dtype == mx.bfloat16 else current), 0))
    return buffers


def _run(program: Path, head: list[int], buffers, output_bytes: list[int]) -> list[list[bytes]]:
    with tempfile.TemporaryDirectory() as folder:
        job, result = Path(folder) / "job", Path(folder) / "result"
        with job.open("wb") as f:
            f.write(struct.pack(f"<{len(head)}I", *head))
            for data, is_output in buffers:
                f.write(struct.pack("<2Q", data.nbytes, is_output) + np.ascontiguousarray(data).tobytes())
        ran = subprocess.run(
            [program, job, result],
            capture_output=True,
            text=True,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0"},
        )
        if ran.returncode:
            raise ShimError(
                "\n".join(
                    line
                    for line in ran.stderr.splitlines()
                    if line.strip() and "doesn't fully support makecontext" not in line
                )[:700]
            )
        raw, orders, at = result.read_bytes(), head[7], 0
        results = []
        for _ in range(orders):
            results.append([])
            for n in output_bytes:
                results[-1].append(raw[at : at + n])
                at += n
        return results


def _to_mlx(raw: bytes, shape, dtype) -> mx.array:
    array = mx.array(np.frombuffer(raw, NUMPY[dtype]).reshape(shape))
    return array.view(mx.bfloat16) if dtype == mx.bfloat16 else array.astype(dtype)


# ---- many specializations, few programs


class Recorder:
    """Stands in for `launch` while the calls to come are collected: outputs are zeros of the right shape."""

    def __init__(self):
        self.sources: dict[str, None] = {}

    def launch(self, kernel, *, inputs, output_shapes, output_dtypes, **request):
        self.sources[
            generated_source(
                kernel,
                inputs=inputs,
                output_shapes=output_shapes,
                output_dtypes=output_dtypes,
                **{k: v for k, v in request.items() if v},
            )
        ] = None
        return [mx.zeros(shape, dtype) for shape, dtype in zip(output_shapes, output_dtypes)]

    def compile(self, broken: bool = False) -> None:
        """Builds what was recorded, a few programs at once. Which kernels share a program hangs on their texts, so that
        one more of them leaves most of what was built before as it is. broken: some may not compile, and are left to
        `launch`."""
        sources = sorted(s for s in self.sources if s not in _programs)
        number = 1 << (len(sources) // SHARED).bit_length()
        chunks: list[list[str]] = [[] for _ in range(number)]
        for source in sources:
            chunks[int(hashlib.sha256(source.encode()).hexdigest()[:8], 16) % number].append(source)
        with ThreadPoolExecutor(PROGRAMS) as pool:
            list(pool.map(_compile_sound if broken else compile_sources, [c for c in chunks if c]))


def _compile_sound(sources: list[str]) -> None:
    """Those that compile, together."""
    try:
        compile_sources(sources)
    except ShimError:
        middle = len(sources) // 2
        for half in (sources[:middle], sources[middle:]) if middle else ():
            _compile_sound(half)
