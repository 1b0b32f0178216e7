"""A check in a process of its own: one that crashes, hangs or is killed becomes a finding like another.

A wrong kernel can end a process, and what MLX reads of its environment it reads once: so nothing is shared.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator

from .finding import Finding, bad
from .table import Check

_ATTACH = "make a report (s2mlx doctor --report) and attach it to an issue"


def findings(check: Check) -> Iterator[Finding]:
    """What the check finds, as it comes; at its end, if it did not end well, why."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", __package__ or "", check.path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            start_new_session=True,  # so that what it starts ends with it
        )
        late = threading.Event()

        def give_up() -> None:
            late.set()
            _end(process)

        seconds = check.seconds * _crowd()
        timer = threading.Timer(seconds, give_up)
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                yield Finding.from_json(json.loads(line))
            process.wait()
        finally:
            timer.cancel()
            _end(process)
        said.seek(0)
        if late.is_set():
            busy = f"no answer for {seconds:.0f} s, with {os.getloadavg()[0]:.0f} programs that want the CPU"
            yield bad(f"{busy}: it hangs, or they are too many", f"end other programs and try again; else {_ATTACH}")
        elif process.returncode:
            yield bad(f"the check broke off: {_why(process.returncode, said.read())}", _ATTACH)


def _crowd() -> float:
    """How many times as long everything may take, since others use this machine too."""
    return min(max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), 4.0)


def _end(process: subprocess.Popen[str]) -> None:
    """Also those that it has started."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # it has just ended by itself
            process.kill()
    process.wait()


def _why(code: int, said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reason = lines[-1][:300] if lines else "no reason given"
    if code >= 0:
        return reason
    try:
        return f"ended by {signal.Signals(-code).name}; {reason}"
    except ValueError:
        return f"ended by signal {-code}; {reason}"
