"""`s2mlx doctor`: what it prints, writes and returns. The checks themselves are tests/doctor's."""

import json

import pytest

from s2mlx.doctor import examine as room
from s2mlx.doctor.finding import bad, good


@pytest.fixture
def found(monkeypatch):
    """The findings of every check; the list may be changed."""
    lines = [good("fine", gb=3.0)]
    monkeypatch.setattr(room, "findings", lambda check: iter(lines))
    return lines


def test_a_page_of_lines(run, found):
    done = run("doctor")
    assert done.code == 0 and done.out.count("  ok   fine") == 10 and done.out.startswith("the machine\n")
    assert done.out.splitlines()[-1].startswith("everything works")


def test_what_is_bad_is_the_exit_code_s_too(run, found):
    found.append(bad("the wire is cut", "mend it"))
    done = run("doctor", "--only", "sound")
    assert done.code == 1 and "  BAD  the wire is cut\n       -> mend it\n" in done.out
    assert "one thing is bad" in done.out


def test_colour_on_a_terminal_only(run, found, monkeypatch):
    monkeypatch.setattr("os.get_terminal_size", lambda fd=1: __import__("os").terminal_size((80, 24)))
    assert "\x1b[32m" in run("doctor", tty=("stdout",)).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("doctor", tty=("stdout",)).out


def test_a_report_has_two_files_or_the_one_that_is_named(run, found, tmp_path):
    assert "written: s2mlx-doctor.md" in run("doctor", "--report").err
    told = json.loads((tmp_path / "s2mlx-doctor.json").read_text())
    assert told["checks"][0]["findings"][0]["figures"] == {"gb": 3.0}
    run("doctor", "--report", "mine.json", "--only", "machine,sound")
    assert [c["name"] for c in json.loads((tmp_path / "mine.json").read_text())["checks"]] == ["machine", "sound"]
    assert not (tmp_path / "mine.md").exists()


def test_a_report_that_cannot_be_written_is_told_before_anything_slow(run, monkeypatch):
    monkeypatch.setattr(room, "findings", lambda check: pytest.fail("it has begun"))
    assert "no folder" in run("doctor", "--report", "nowhere/here").error


def test_json(run, found):
    assert run("doctor", "--json", "--only", "pace").json["checks"][0]["name"] == "pace"


def test_checks_are_listed_and_a_wrong_name_is_told(run):
    assert "kernels" in run("doctor", "--only", "?").out
    done = run("doctor", "--only", "kernel")
    assert done.code == 2 and "did you mean 'kernels'?" in done.error


def test_one_for_real(run):
    done = run("doctor", "--only", "formats")
    assert done.code == 0 and "Q4_K" in done.out
