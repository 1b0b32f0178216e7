"""A measurement in a process of its own: a job goes in as JSON, what it finds comes out as JSON, one value a line.

`run` starts the process, `serve` is what its module calls.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

from ..errors import S2Error


def run(module: str, job: dict, variables: dict[str, str] | None = None) -> Iterator[dict]:
    """Run `python -m module` on a job; what it finds, as it comes. `S2Error` with its last word if it fails.

    variables: of its environment, beside ours."""
    with subprocess.Popen(
        [sys.executable, "-m", module, json.dumps(job)],
        env={**os.environ, **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None  # pipes, as asked
        for line in process.stdout:
            yield json.loads(line)
        fault = process.stderr.read().strip()
    if process.returncode:
        raise S2Error(f"the measuring process failed: {(fault or 'no reason given').splitlines()[-1]}")


def serve(work: Callable[[dict], Iterable[dict]]) -> None:
    """Print what `work` finds for the job of the command line; an `S2Error` of it is the process's last word."""
    try:
        for found in work(json.loads(sys.argv[1])):
            print(json.dumps(found), flush=True)
    except S2Error as fault:
        sys.exit(str(fault))


def load_arguments(path, tokenizer, compat: str | None, memory_limit: int | None) -> dict:
    """What `s2mlx.load` takes, ready for JSON."""
    return {
        "model": str(path),
        "tokenizer": tokenizer and str(tokenizer),
        "compat": compat,
        "memory_limit": memory_limit,
    }


def peak_memory() -> int:
    """The most bytes that this process had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
