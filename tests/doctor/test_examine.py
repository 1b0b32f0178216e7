"""Checks run one after the other, each in a process of its own; one that ends badly says so and stops nobody."""

import time

import pytest

from s2mlx.doctor.examine import examine
from s2mlx.doctor.finding import BAD, GOOD, NOTE
from s2mlx.doctor.table import CHECKS, Check

ILL = Check("ill", "a check that is ill", 30.0, "tests.doctor.ill")


def findings(check, way, monkeypatch):
    monkeypatch.setenv("S2MLX_TEST_ILLNESS", way)
    *_, (examined, last) = examine([check])
    assert last is None
    return examined.findings


def test_findings_come_as_they_were_said(monkeypatch):
    found = findings(ILL, "well", monkeypatch)
    assert [each.state for each in found] == [GOOD, NOTE, BAD]
    assert found[0].figures == {"gb": 12.5} and found[2].todo == "mend it"


@pytest.mark.parametrize(
    "way, words",
    [
        ("killed", "SIGABRT"),
        ("raises", "the device is gone"),
        ("expected", "/etc/nothing is not there"),
        ("exits", "broke off"),
    ],
)
def test_a_check_that_ends_badly_is_bad_and_keeps_what_it_had_found(way, words, monkeypatch):
    first, last = findings(ILL, way, monkeypatch)
    assert first.text == "the first thing works"
    assert last.state == BAD and words in last.text and last.todo


def test_a_check_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (0.5, 0.5, 0.5))
    began = time.monotonic()
    first, last = findings(Check("ill", "hangs", 4.0, ILL.module), "hangs", monkeypatch)
    assert time.monotonic() - began < 60 and first.state == GOOD
    assert last.state == BAD and "no answer for 4 s" in last.text


def test_one_after_the_other(monkeypatch):
    monkeypatch.setenv("S2MLX_TEST_ILLNESS", "raises")
    begun = []
    ended = [each for each, finding in examine([ILL, ILL], begun.append) if finding is None]
    assert begun == [ILL, ILL] and [each.bad for each in ended] == [1, 1] and all(each.seconds > 0 for each in ended)


def test_every_check_can_be_asked_for():
    from importlib import import_module

    for check in CHECKS:
        assert callable(import_module(check.path).run), check
    assert len({check.name for check in CHECKS}) == len(CHECKS)
