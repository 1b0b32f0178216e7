"""All checks, or some, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .apart import findings
from .finding import BAD, Finding
from .table import CHECKS, Check


@dataclass
class Examined:
    """A check and what it found; `seconds` are known at its end."""

    check: Check
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def bad(self) -> int:
        return sum(finding.state == BAD for finding in self.findings)


def examine(
    checks: Sequence[Check] = CHECKS, begins: Callable[[Check], None] = lambda check: None
) -> Iterator[tuple[Examined, Finding | None]]:
    """Each finding as it comes, with its check as far as it is; (check, None) when it is through."""
    for check in checks:
        begins(check)
        examined, began = Examined(check), time.perf_counter()
        for finding in findings(check):
            examined.findings.append(finding)
            yield examined, finding
        examined.seconds = time.perf_counter() - began
        yield examined, None
