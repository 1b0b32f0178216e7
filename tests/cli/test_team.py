"""`say` on several machines: with what code the process ends whose last round never does."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from s2mlx.cli import team
from s2mlx.errors import S2Error, UsageError


@pytest.mark.parametrize(
    "fault, code",
    [(None, 0), (S2Error("lost"), 1), (ZeroDivisionError(), 1), (UsageError("no"), 2), (KeyboardInterrupt(), 130)],
)
def test_the_code_of_who_is_stuck_is_that_of_what_happened(monkeypatch, fault, code):
    stuck = SimpleNamespace(rank=0, size=2, rounds=SimpleNamespace(stuck=True), close=lambda: None)
    last, codes = [], []
    monkeypatch.setattr(team, "Team", lambda: stuck)
    monkeypatch.setattr(team.atexit, "register", lambda *call: last.append(call))
    monkeypatch.setattr(team.os, "_exit", codes.append)
    with suppress(BaseException), team.joined(SimpleNamespace(output="out.wav", play=False)):
        if fault:
            raise fault
    ((leave, *given),) = last
    leave(*given)
    assert codes == [code]
