"""One check, in a process that `apart.py` has started: its findings on stdout, a JSON object a line."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

from ..errors import S2Error
from .finding import bad


def main(module: str) -> None:
    # Whatever else is printed meanwhile, by libraries in C too, is no finding.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        tell = lambda finding: print(json.dumps(finding.to_json()), file=out, flush=True)
        try:
            for finding in import_module(module).run():
                tell(finding)
        except S2Error as fault:
            tell(bad(str(fault), "do what the line says, then run s2mlx doctor again"))


if __name__ == "__main__":
    main(sys.argv[1])
