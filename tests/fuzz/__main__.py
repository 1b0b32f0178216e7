"""The long run: each reader in a process of its own, with ever new inputs, until its time is over.

    python -m tests.fuzz --minutes 30            all readers, half an hour together
    python -m tests.fuzz --minutes 30 npy pth    these two
    python -m tests.fuzz --try npy FILE          one file, such as one that was kept

An input that broke a reader is kept in found/, the smallest that was found. What a reader must not take: 20 s for
one input, 8 GB of memory.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings

from .targets import TARGETS

KEPT = Path(__file__).with_name("found")
PATIENCE = 20.0  # seconds for one input
MEMORY = 8 << 30
_BATCH = 200


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Readers against files from strangers.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="; ".join(TARGETS))
    parser.add_argument("--minutes", type=float, default=5.0, help="for all targets together; default 5")
    parser.add_argument("--keep", type=Path, default=KEPT, metavar="FOLDER", help="for inputs that broke something")
    parser.add_argument("--list", action="store_true", help="only name the targets")
    parser.add_argument("--try", nargs=2, metavar=("TARGET", "FILE"), dest="one", help="only try one file")
    parser.add_argument("--alone", metavar="TARGET", help=argparse.SUPPRESS)  # in the process that it may end
    args = parser.parse_args(argv)
    if wrong := [name for name in [*args.targets, *(args.one or [])[:1]] if name not in TARGETS]:
        parser.error(f"no target {wrong[0]}; known: {', '.join(TARGETS)}")
    if args.list:
        print(*TARGETS, sep="\n")
        return 0
    if args.one:
        with tempfile.TemporaryDirectory(prefix="s2mlx-fuzz-") as folder:
            TARGETS[args.one[0]].try_on(Path(args.one[1]).read_bytes(), Path(folder))
        return 0
    if args.alone:
        print(f"{args.alone:12} {fuzz(args.alone, 60 * args.minutes, args.keep)} inputs", flush=True)
        return 0
    names, broken = args.targets or list(TARGETS), []
    for name in names:
        share = args.minutes / len(names)
        words = ["--alone", name, "--minutes", str(share), "--keep", str(args.keep)]
        if subprocess.run([sys.executable, "-m", "tests.fuzz", *words]).returncode:
            broken.append(name)
            print(f"{name:12} broke: see above, and {_kept(args.keep / name)}", flush=True)
    return 1 if broken else 0


def _kept(path: Path) -> Path:
    """The input that broke something, under a name that the next run leaves alone."""
    if not path.exists():  # its process never came so far
        return path
    return path.rename(path.with_name(f"{path.name}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"))


def fuzz(name: str, seconds: float, keep: Path) -> int:
    """Inputs for one target until its time is over; how many there were. Raises what the reader did, or dies with it:
    the input that did it is in `keep`."""
    target, end, tried = TARGETS[name], time.monotonic() + seconds, 0
    keep.mkdir(parents=True, exist_ok=True)
    if sys.platform != "darwin":  # which gives every process more addresses than that, and refuses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    current = keep / name

    def attempt(data: bytes) -> None:
        nonlocal tried
        tried += 1
        current.write_bytes(data)  # before it is read: it may be the last
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        with tempfile.TemporaryDirectory(prefix="s2mlx-fuzz-") as folder:
            target.try_on(data, Path(folder))
        faulthandler.cancel_dump_traceback_later()

    for data in target.all_seeds():
        attempt(data)
    number = time.time_ns()
    while time.monotonic() < end:
        number += 1
        run = settings(max_examples=_BATCH, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        run(seed(number)(given(data=target.strategy())(attempt)))()
    current.unlink(missing_ok=True)
    if not any(keep.iterdir()):
        shutil.rmtree(keep)
    return tried


if __name__ == "__main__":
    sys.exit(main())
