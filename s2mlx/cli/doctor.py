"""Say what works on this machine, in less than two minutes and without a model of your own; what does not is told with
what to do.

Nothing sounds, and what the microphone hears is not kept. Exit code 1 when something is bad.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from . import model
from .parser import Parser, known_or_near
from .paths import check_writable, write_whole
from .terminal import Console, on_stdout, stdout_is_terminal

if TYPE_CHECKING:
    from ..doctor.table import Check

REPORT = "s2mlx-doctor"


def configure(parser: Parser) -> None:
    parser.option(
        "--report",
        nargs="?",
        const=REPORT,
        metavar="FILE",
        help=f"also write FILE.md and FILE.json, or the one that FILE ends in, to attach to an issue: no folder, user "
        f"or device is named in it; without a name {REPORT}",
    )
    parser.option("--only", metavar="NAME,...", help="some of the checks: machine, kernels, sound, ...; ? lists them")
    model.add_manners(parser, json="print one JSON object: {s2mlx, system, checks: [{name, seconds, findings}]}")


def run(args: argparse.Namespace, console: Console) -> int:
    from ..doctor import report
    from ..doctor.examine import Examined, examine
    from ..doctor.page import heading, lines, verdict
    from ..doctor.table import CHECKS

    if args.only == "?":
        print("\n".join(f"{check.name:<12}{check.title}" for check in CHECKS))
        return 0
    checks = _chosen(args.only, {check.name: check for check in CHECKS})
    targets = _targets(args.report)
    colour = stdout_is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = os.get_terminal_size(1).columns if stdout_is_terminal() else 110
    examined: list[Examined] = []

    def begins(check: Check) -> None:
        if not args.json:
            print(heading(check, colour), flush=True)
        console.progress(f"checking {check.title} ...")

    for each, finding in examine(checks, begins):
        console.clear()
        if finding is None:
            examined.append(each)
        elif not args.json:
            for line in lines(finding, width, colour):
                print(on_stdout(line) if not colour else line, flush=True)
            console.progress(f"checking {each.check.title} ...")
    if args.json:
        print(json.dumps(report.as_json(examined)))
    else:
        print(verdict(examined), flush=True)
    for path in targets:
        as_json = path.endswith(".json")
        text = json.dumps(report.as_json(examined), indent=1) if as_json else report.as_markdown(examined)
        write_whole(path, text.encode())
        console.note(f"written: {path}")
    return 1 if any(each.bad for each in examined) else 0


def _chosen(only: str | None, known: dict[str, Check]) -> list[Check]:
    if only is None:
        return list(known.values())
    names = [name.strip() for name in only.split(",")]
    for name in names:
        if name not in known:
            raise UsageError(f"--only: there is no check {name!r}; {known_or_near(name, known)}")
    return [check for name, check in known.items() if name in names]


def _targets(named: str | None) -> list[str]:
    """The files of the report, which can be written: looked at before anything slow begins."""
    if named is None:
        return []
    found = [named] if Path(named).suffix in (".md", ".json") else [named + ending for ending in (".md", ".json")]
    for path in found:
        check_writable(path)
    return found
