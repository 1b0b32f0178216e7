"""What is shown, and what is written to be attached to an issue: nothing private."""

import json
import socket
from pathlib import Path

import pytest

from s2mlx.doctor import report
from s2mlx.doctor.examine import Examined
from s2mlx.doctor.finding import Finding, bad, good, note
from s2mlx.doctor.page import heading, lines, verdict
from s2mlx.doctor.table import CHECKS


@pytest.fixture
def anna(monkeypatch):
    monkeypatch.setenv("HOME", "/Users/anna")
    monkeypatch.setattr(report.getpass, "getuser", lambda: "anna")
    monkeypatch.setattr(socket, "gethostname", lambda: "Annas-MacBook.local")


def examined(*findings: Finding):
    return [Examined(CHECKS[0], list(findings), 1.25)]


def test_nothing_private_is_told(anna):
    found = examined(
        bad("cannot write /Users/anna/Library/Application Support/s2mlx/voices", "chown anna '/Users/anna/x y'"),
        good("of Anna on annas-macbook", where="/Volumes/Anna's disk/models", speed=1.23456789),
        Finding("ok", "Anna's AirPods hear at 24000 Hz", "", {"name": "Anna's AirPods"}, ("Anna's AirPods",)),
        note("kept in /private/var/folders/zz/abc/T/x.wav, at 3 GB/s and/or 4"),
    )
    for text in (report.as_markdown(found), json.dumps(report.as_json(found))):
        assert "anna" not in text.lower() and "/Volumes" not in text and "/private" not in text, text
        assert "~/Library/Application Support/s2mlx/voices" in text and "3 GB/s and/or 4" in text
    assert report.as_json(found)["checks"][0]["findings"][1]["figures"]["speed"] == 1.235


def test_a_root_s_report_keeps_its_words(monkeypatch):
    monkeypatch.setenv("HOME", "/root")
    monkeypatch.setattr(report.getpass, "getuser", lambda: "root")
    told = report.as_json(examined(good("root of the matter, /root/x")))
    assert told["checks"][0]["findings"][0]["text"] == "root of the matter, ~/x"


def test_a_user_without_a_name_or_home(monkeypatch):
    def nobody(*_):
        raise KeyError("uid not found")

    monkeypatch.setattr(report.getpass, "getuser", nobody)
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: (_ for _ in ()).throw(RuntimeError("no home"))))
    assert report.as_json(examined(good("fine")))["checks"][0]["findings"][0]["text"] == "fine"


def test_the_markdown_has_a_line_for_each_and_the_figures(anna):
    text = report.as_markdown(examined(good("a | b", gb=3.5), bad("c", "do d")))
    assert "| ok | a \\| b |" in text and "| bad | c -> do d |" in text and "one thing is bad" in text
    folded = text[text.index("```json") + 7 : text.rindex("```")]
    assert json.loads(folded)["checks"][0]["findings"][0]["figures"] == {"gb": 3.5}


def test_the_page():
    assert list(lines(good("fine"))) == ["  ok   fine"]
    told = list(lines(bad("word " * 30, "do this"), width=60))
    assert told[0].startswith("  BAD  word") and told[-1] == "       -> do this" and max(map(len, told)) <= 60
    assert list(lines(good("fine"), colour=True)) == ["  \x1b[32mok   \x1b[0mfine"]
    assert "the machine" in heading(CHECKS[0], colour=True)
    two = [Examined(CHECKS[0], [bad("a", "b")], 2.0), Examined(CHECKS[1], [bad("c", "d")], 3.0)]
    assert verdict(two) == "2 things are bad; 5 s" and verdict([]) == "everything works; 0 s"
