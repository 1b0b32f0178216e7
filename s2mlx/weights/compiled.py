"""A file's own blocks multiplied and opened by machine code that is made for this CPU when it is first asked for.

`block_code` writes the code, llvmlite (the extra `cpu`) makes it, which for some types takes a good part of a second.
Where it is not installed, or the CPU is of another kind, nothing here is `available`, and matrices are opened to floats
as they are loaded. Calls let go of Python's lock, so the cores can share a matrix.
"""

from __future__ import annotations

import ctypes
import platform
import threading
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from gguf.constants import GGMLQuantizationType

from .. import device
from . import cores

MOST_VECTORS = 4  # in one product; for more a matrix is opened and multiplied by BLAS
_OLDEST = (0, 46)  # llvmlite; others bring older ones, which write another language
_NEEDED = {"x86_64": ("avx2", "fma", "f16c"), "aarch64": (), "arm64": ()}
_building = threading.Lock()


def available() -> bool:
    """Whether products of blocks run here: the CPU is in use, llvmlite is there and works, and neither `S2MLX_KERNELS`
    nor `S2MLX_HOST_BLAS` is `off`."""
    wanted = not device.on_gpu() and device.kernels_wanted() and cores.setting() != "off"
    return wanted and _features() is not None


def way() -> str:
    """What the numbers follow from, beside the model: who makes the code, and for which CPU; "" where none is made."""
    return f"llvmlite {version('llvmlite')}: {_features()}" if available() else ""


def reads(kind: GGMLQuantizationType, row_bytes: int) -> bool:
    """Whether rows of so many bytes of this type can be multiplied and opened here."""
    if not available():
        return False
    from . import block_code

    return kind in block_code.KINDS and row_bytes % block_code.block(kind)[1] == 0 and row_bytes > 0


def product(data: np.ndarray, kind: GGMLQuantizationType, x: np.ndarray, y: np.ndarray) -> None:
    """y[i] = W x[i]: uint8 [rows, row_bytes], float32 [n, columns] with n <= MOST_VECTORS -> float32 [n, rows], whose
    rows may lie apart. Sums depend on neither the rows that are given together nor their number. Raises `ValueError`
    for arrays that do not fit: the code itself looks at none of this."""
    fits = x.shape == (len(x), _columns(data, kind)) and y.shape == (len(x), len(data)) and 0 < len(x) <= MOST_VECTORS
    if not (fits and x.flags.c_contiguous and x.dtype == y.dtype == np.float32 and y.strides[1] == y.itemsize):
        raise ValueError(f"a product of {kind.name} {data.shape} with {x.dtype} {x.shape} into {y.dtype} {y.shape}")
    _call(f"product{len(x)}", kind, data, x.ctypes.data, y.ctypes.data, y.strides[0] // y.itemsize)


def open_rows(data: np.ndarray, kind: GGMLQuantizationType, out: np.ndarray) -> None:
    """The exact values of rows, uint8 [rows, row_bytes] -> float32 [rows, columns]. Raises `ValueError` for arrays that
    do not fit."""
    if out.shape != (len(data), _columns(data, kind)) or out.dtype != np.float32 or not out.flags.c_contiguous:
        raise ValueError(f"{kind.name} {data.shape} cannot be opened into {out.dtype} {out.shape}")
    _call("open", kind, data, out.ctypes.data)


def prepare(kinds: Iterable[GGMLQuantizationType], keep_going: Callable[[], bool] = lambda: True) -> None:
    """Have all made now that matrices of these types may ask for later."""
    for kind in sorted(kinds) if available() else ():
        for name in ("product1", "open", *(f"product{n}" for n in range(2, MOST_VECTORS + 1))):
            if keep_going():
                _function(kind, name)


def _columns(data: np.ndarray, kind: GGMLQuantizationType) -> int:
    """Weights in a row of blocks. Raises `ValueError` unless they are whole and lie one after the other."""
    from .block_code import block

    weights, size = block(kind)
    if data.ndim != 2 or data.dtype != np.uint8 or not data.flags.c_contiguous or data.shape[1] % size:
        raise ValueError(f"{data.dtype} {data.shape} are no rows of {kind.name}")
    return data.shape[1] // size * weights


def _call(name: str, kind: GGMLQuantizationType, data: np.ndarray, *more: int) -> None:
    from .block_code import block

    rows, row_bytes = data.shape
    if rows and row_bytes:
        _function(kind, name)(data.ctypes.data, rows, row_bytes, row_bytes // block(kind)[1], *more)


_made: dict[tuple[GGMLQuantizationType, str], tuple[Callable[..., None], Any]] = {}


def _function(kind: GGMLQuantizationType, name: str) -> Callable[..., None]:
    found = _made.get((kind, name))
    if found is None:
        features = _features()  # which also wakes LLVM
        if features is None:
            raise RuntimeError("no machine code is made here: ask `available` first")
        with _building:
            found = _made.get((kind, name)) or _make(kind, name, features)
            _made[kind, name] = found
    return found[0]


def _make(kind: GGMLQuantizationType, name: str, features: str) -> tuple[Callable[..., None], Any]:
    """The function, and what must live as long as it does."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    from . import block_code

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
    """What this CPU can do, as LLVM names it; None where nothing can be made for it, for whatever reason: who never
    asked for llvmlite may have one all the same, of any age, and a system may forbid code that is made."""
    try:
        if tuple(int(part) for part in version("llvmlite").split(".")[:2]) < _OLDEST:
            return None
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        found = llvm.get_host_cpu_features()
        needed = _NEEDED.get(platform.machine())
        if needed is None or not all(found.get(name) for name in needed):
            return None
        # vectors of 512 bits where there are such
        features = str(found.flatten()) + (",-prefer-256-bit" if found.get("avx512f") else "")
        return features if _works(features) else None
    except Exception:  # see above: nothing of it may end a program that can do without
        return None


def _works(features: str) -> bool:
    """Whether a small product can be made, called, and is right."""
    kind = GGMLQuantizationType.F32
    of_one, _engine = _make(kind, "product1", features)
    ones, x, y = np.ones(16, np.float32), np.arange(16, dtype=np.float32), np.zeros(1, np.float32)
    of_one(ones.ctypes.data, 1, ones.nbytes, 1, x.ctypes.data, y.ctypes.data, 1)
    return float(y[0]) == 120.0
