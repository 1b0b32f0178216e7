"""Type check of Metal text with clang: names, types, const, and the address spaces that a plain C++ build cannot see.

Needs the `libclang` package. `faults(source)` lists what is wrong, empty when nothing is.
"""

from __future__ import annotations

import re
from pathlib import Path

from . import msl

HEADER = Path(__file__).parent / "typecheck.h"
BANNED = {
    r"\bdouble\b": "double is not a Metal type",
    r"\b(new|delete|throw|try|catch|goto|dynamic_cast|typeid|virtual|thread_local|auto)\b": "not for kernels",
    r"\[[&=]?\]\s*\(": "Metal has no lambdas",
    r"\bstd::": "std:: is not in Metal",
    r"\b(thread|device|constant|threadgroup)\b[^*&,;:(){}=]*\b(device|constant|threadgroup)\b": "two address spaces",
    r"\b\d+\.\d*(?![\dfhe])": "a literal without f is a double in C++",
}
ARGUMENTS = [
    "-x",
    "c++",
    "-std=c++17",
    "--target=aarch64-linux-gnu",
    "-march=armv8.2-a+fp16+bf16",
    "-nostdinc",
    "-Wno-everything",
    "-Werror=shadow",
    "-Werror=uninitialized",
    "-Werror=return-type",
    "-fsyntax-only",
]


def faults(source: str) -> list[str]:
    """`source` as MLX generates it."""
    from clang import cindex

    code = re.sub(r"//.*", "", source)
    found = [
        f"line {code[: m.start()].count(chr(10)) + 1}: {why}"
        for pattern, why in BANNED.items()
        for m in re.finditer(pattern, code)
    ]
    parsed = msl.parse(source)
    text = re.sub(r"\[\[(buffer\(\d+\)|[a-z_]+)\]\]", "", msl.without_includes(parsed.body))
    text = re.sub(r"\bthreadgroup float4 (?=\w+\[)", "static threadgroup_float4 ", text)
    text = re.sub(r"\bthreadgroup float4\*", "threadgroup_float4*", text)
    # threadgroup memory of a kernel: clang wants variables of another address space to be static
    text = re.sub(
        r"(^|[;{}]|\n)(\s*)threadgroup(\s+\w+\s+\w+\s*(?:\[[^\]]*\])*\s*;)", r"\1\2static threadgroup\3", text
    )
    text = f'#include "typecheck.h"\n{text}\nvoid* instance = (void*)&{parsed.call};\n'
    unit = cindex.Index.create().parse(
        "kernel.cpp", args=[*ARGUMENTS, f"-I{HEADER.parent}"], unsaved_files=[("kernel.cpp", text)]
    )
    lines = text.splitlines()
    for d in unit.diagnostics:
        if d.severity < cindex.Diagnostic.Error:
            continue
        at = lines[d.location.line - 1].strip() if 0 < d.location.line <= len(lines) else ""
        found.append(f"{d.spelling}: {at}")
    return found
