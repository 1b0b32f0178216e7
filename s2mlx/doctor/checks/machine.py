"""The machine: its chip, memory, system and MLX, how much of the memory the GPU may hold, and what fits."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mlx.core as mx

from ... import device
from ...bench.machine import files
from ...files import size
from ...networks.load import limit_memory
from ...weights.storage import machine_memory
from ..finding import Finding, bad, good, note

_PACKAGES = (
    "mlx",
    "mlx-metal",
    "mlx-cpu",
    "numpy",
    "gguf",
    "soundfile",
    "sounddevice",
    "soxr",
    "tokenizers",
    "textual",
)
_RESIDENT_SINCE = 15  # macOS; before, what `set_wired_limit` asks for is left aside


def run() -> Iterator[Finding]:
    yield what_it_is()
    if sys.platform == "darwin":
        yield from on_a_mac()
    yield what_fits(machine_memory(), gpu_memory())


def what_it_is() -> Finding:
    packages = {name: found for name in _PACKAGES if (found := _version(name))}
    cores, memory = os.cpu_count() or 1, machine_memory()
    text = (
        f"{chip()}, {cores} cores, {size(memory)} of memory, {system()}, Python {platform.python_version()}, "
        f"MLX {packages.get('mlx', '?')}"
    )
    return good(text, cores=cores, memory=memory, packages=packages, python=platform.python_version())


def on_a_mac() -> Iterator[Finding]:
    """What only a Mac has to tell."""
    if not (mx.metal.is_available() and device.on_gpu()):
        yield bad(
            "MLX finds no GPU here",
            "pip install --upgrade mlx mlx-metal; over ssh or in a virtual machine macOS may give none: then speech "
            "is made by the CPU",
        )
        return
    info = mx.device_info()
    name = str(info.get("device_name", ""))
    told: dict[str, Any] = {
        key: info.get(key) for key in ("architecture", "max_buffer_length", "memory_size", "resource_limit")
    }
    if "Paravirtual" in name:
        yield note(
            f"the GPU is a virtual machine's ({name}): our kernels may be left aside, and no speed here tells of a Mac",
            **told,
        )
    else:
        yield good(f"MLX computes on the GPU of {name}", **told)
    resident, wired = gpu_memory() or 0, sysctl("iogpu.wired_limit_mb")
    limit = "the system's own limit" if wired in ("", "0") else f"iogpu.wired_limit_mb is {wired}"
    yield good(f"the GPU may hold {size(resident)} ({limit})", resident=resident, wired_limit_mb=wired)
    try:
        limit_memory(None)
    except (RuntimeError, ValueError) as fault:
        yield bad(
            f"keeping weights in memory is refused: {fault}", "attach a report (s2mlx doctor --report) to an issue"
        )
        return
    major = int(platform.mac_ver()[0].split(".")[0] or 0)
    if major < _RESIDENT_SINCE:
        yield note(
            f"macOS {platform.mac_ver()[0]} does not keep weights resident; the first sound after a pause may be late",
            f"macOS {_RESIDENT_SINCE} does",
        )


def what_fits(memory: int, resident: int | None) -> Finding:
    """The largest file of S2 Pro for this machine. resident: bytes that the GPU may hold, None without one."""
    rows = files()
    known = [row for row in rows if row["mac"] * 10**9 <= memory * 1.08]  # 16 GB are 17.2e9 bytes, a container's fewer
    fits = [row for row in known if resident is None or row["memory"] <= resident]
    names = [row["name"] for row in rows]
    if not fits:
        return note(
            f"no file of S2 Pro fits well into {size(memory)}; the bundled voice does",
            f"{names[-1]} is the smallest; close other programs, or see what --memory-limit does",
            fits=[],
        )
    largest = max(fits, key=lambda row: row["memory"])
    text = f"S2 Pro fits up to {largest['name']} ({size(largest['memory'])} in use)"
    return good(text, fits=[row["name"] for row in fits])


def gpu_memory() -> int | None:
    """Bytes that the GPU may hold (Metal's recommendedMaxWorkingSetSize); None where MLX uses none."""
    if not (mx.metal.is_available() and device.on_gpu()):
        return None
    return int(mx.device_info()["max_recommended_working_set_size"])


def chip() -> str:
    if sys.platform == "darwin":
        return sysctl("machdep.cpu.brand_string") or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def system() -> str:
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    try:
        return str(platform.freedesktop_os_release().get("PRETTY_NAME", platform.platform()))
    except OSError:
        return platform.platform()


def sysctl(name: str) -> str:
    """A value of macOS's kernel, empty where there is none of this name."""
    try:
        done = subprocess.run(["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
