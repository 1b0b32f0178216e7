"""A file's own blocks multiplied and opened by machine code that is made for this CPU when it is first asked for.

`block_code` writes the code, llvmlite (the extra `cpu`) makes it: a tenth of a second for each type. Where it is not
installed, or the CPU is of another kind, nothing here is `available`, and matrices are opened to floats as they are
loaded. Calls let go of Python's lock, so the cores can share a matrix.
"""

from __future__ import annotations

import ctypes
import platform
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from gguf.constants import GGMLQuantizationType

from .. import device

MOST_VECTORS = 4  # in one product; for more a matrix is opened and multiplied by BLAS
_NEEDED = {"x86_64": ("avx2", "fma", "f16c"), "aarch64": (), "arm64": ()}
_building = threading.Lock()


def available() -> bool:
    """Whether products of blocks run here: the CPU is in use, llvmlite is there, `S2MLX_KERNELS` is not `off`."""
    return not device.on_gpu() and device.kernels_wanted() and _features() is not None


def reads(kind: GGMLQuantizationType, row_bytes: int) -> bool:
    """Whether rows of so many bytes of this type can be multiplied and opened here."""
    if not available():
        return False
    from . import block_code

    return kind in block_code.KINDS and row_bytes % block_code.block(kind)[1] == 0 and row_bytes > 0


def product(data: np.ndarray, kind: GGMLQuantizationType, x: np.ndarray, y: np.ndarray) -> None:
    """y[i] = W x[i]: uint8 [rows, row_bytes], float32 [n, columns] with n <= MOST_VECTORS -> float32 [n, rows], whose
    rows may lie apart. Sums depend on neither the rows that are given together nor their number."""
    assert x.flags.c_contiguous and x.dtype == y.dtype == np.float32 and y.strides[1] == 4 and len(x) == len(y)
    _call(f"product{len(x)}", kind, data, x.ctypes.data, y.ctypes.data, y.strides[0] // 4)


def open_rows(data: np.ndarray, kind: GGMLQuantizationType, out: np.ndarray) -> None:
    """The exact values of rows, uint8 [rows, row_bytes] -> float32 [rows, columns]."""
    assert out.flags.c_contiguous and out.dtype == np.float32
    _call("open", kind, data, out.ctypes.data)


def prepare(kind: GGMLQuantizationType, vectors: int) -> None:
    """Have what a product of so many vectors takes made now."""
    _function(kind, f"product{vectors}" if vectors <= MOST_VECTORS else "open")


def _call(name: str, kind: GGMLQuantizationType, data: np.ndarray, *more: int) -> None:
    from .block_code import block

    assert data.flags.c_contiguous and data.ndim == 2
    rows, row_bytes = data.shape
    if rows:
        _function(kind, name)(data.ctypes.data, rows, row_bytes, row_bytes // block(kind)[1], *more)


_made: dict[tuple[GGMLQuantizationType, str], tuple[Callable[..., None], Any]] = {}


def _function(kind: GGMLQuantizationType, name: str) -> Callable[..., None]:
    found = _made.get((kind, name))
    if found is None:
        with _building:
            found = _made.get((kind, name)) or _make(kind, name)
            _made[kind, name] = found
    return found[0]


def _make(kind: GGMLQuantizationType, name: str) -> tuple[Callable[..., None], Any]:
    """The function, and what must live as long as it does."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    from . import block_code

    features = _features()  # which also wakes LLVM
    # of its own for each: the engine takes it along
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=3
    )
    module = ir.Module(name=f"{kind.name}_{name}")
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    if name == "open":
        block_code.write_open(module, kind, name)
        numbers = 0
    else:
        block_code.write_product(module, kind, name, int(name.removeprefix("product")))
        numbers = 1
    made = llvm.parse_assembly(str(module))
    made.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(made, passes)
    engine = llvm.create_mcjit_compiler(made, machine)
    engine.finalize_object()
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    arguments = [pointer, number, number, number, *[pointer] * (1 + numbers), *[number] * numbers]
    return ctypes.CFUNCTYPE(None, *arguments)(engine.get_function_address(name)), engine


@cache
def _features() -> str | None:
    """What this CPU can do, as LLVM names it; None where nothing can be made for it."""
    try:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        found = llvm.get_host_cpu_features()
    except (ImportError, OSError, RuntimeError):
        return None
    needed = _NEEDED.get(platform.machine())
    if needed is None or not all(found.get(name) for name in needed):
        return None
    # vectors of 512 bits where there are such
    return str(found.flatten()) + (",-prefer-256-bit" if found.get("avx512f") else "")
