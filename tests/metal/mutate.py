"""A hundred faults and more, written one at a time into the kernels and into what launches them: which does no test see?

    python -m tests.metal.mutate [WORD ...]      # those whose file or name has one of the words; all take a while

`test_mutants.py` has some of them for every run; these are for whoever changes a kernel. A fault is caught when its case,
or its test, fails with it; each passes without. What survives is explained in `faults.WHY`; anything else ends with 1.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

from s2mlx.kernels import metal

from . import msl
from .faults import DISPATCH, KERNELS, WHY, Fault
from .test_mutants import LOAD


def load(fault: Fault):
    """`metal.load` with the fault in it; a file's functions are part of the kernels that include it."""
    mutate = lambda text: text.replace(fault.old, fault.new)

    def loaded(file):
        kernels = LOAD(file).items()
        both = file == fault.file or fault.file in ("blocks.metal", "heads.metal")
        return {
            name: metal.Kernel(k.name, k.inputs, k.outputs, mutate(k.header), mutate(k.body)) if both else k
            for name, k in kernels
        }

    return loaded


def outputs(fault: Fault, launch):
    with mock.patch.object(metal, "load", load(fault)):
        return fault.case.outputs(launch)


def caught(fault: Fault) -> bool:
    try:
        if fault.file.endswith(".metal"):
            with mock.patch.object(metal, "load", load(fault)):
                fault.case.check()
            return False
        with changed(fault):
            if fault.case is not None:
                fault.case.check()
                return False
            return pytest.main(["-q", "-x", "-n0", "-p", "no:cacheprovider", "--no-header", *fault.tests]) != 0
    except (msl.ShimError, AssertionError, ValueError, TypeError, IndexError, RuntimeError):
        return True


class changed:
    """A module of the engine with another text, as long as this holds."""

    def __init__(self, fault: Fault):
        path = (Path(metal.__file__).parent / fault.file).resolve()
        self.module: ModuleType = importlib.import_module(
            ".".join(path.relative_to(Path(metal.__file__).parents[2]).with_suffix("").parts)
        )
        self.text, self.fault = path.read_text(encoding="utf-8"), fault
        self.kept = dict(vars(self.module))

    def __enter__(self):
        text = self.text.replace(self.fault.old, self.fault.new)
        exec(compile(text, self.module.__file__, "exec"), vars(self.module))

    def __exit__(self, *_):
        vars(self.module).clear()
        vars(self.module).update(self.kept)


def main(words: list[str]) -> int:
    faults = [f for f in KERNELS + DISPATCH if not words or any(w in f"{f.file}: {f.name}" for w in words)]
    for fault in faults:
        text = (Path(metal.__file__).parent / fault.file).read_text(encoding="utf-8")
        assert fault.old in text, f"{fault.file}: {fault.name}: the text to change is gone"
    recorder = msl.Recorder()
    for fault in faults:
        if fault.case is not None:
            fault.case.outputs(recorder.launch)
            if fault.file.endswith(".metal"):
                outputs(fault, recorder.launch)
    recorder.compile(broken=True)
    for case in {f.case.id: f.case for f in faults if f.case is not None}.values():
        case.check()
    survivors = []
    for fault in faults:
        name = f"{fault.file}: {fault.name}"
        if caught(fault):
            print(f"caught     {name}" + (", though it is explained" if name in WHY else ""), flush=True)
            continue
        survivors.append(name)
        print(f"SURVIVES   {name}" + (f": {WHY[name]}" if name in WHY else ""), flush=True)
    print(f"{len(faults)} faults, {len(faults) - len(survivors)} caught")
    return int(any(name not in WHY for name in survivors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
