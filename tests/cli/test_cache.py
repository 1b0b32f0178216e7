"""`s2mlx cache`, and the option that does without."""

import numpy as np
import pytest

from s2mlx.files import kept_prefixes


@pytest.fixture
def entries():
    for number, voice in enumerate(("me", "anna\x1b[31m")):
        about = {"model": "S2 Pro", "voices": [voice], "positions": 400 + number}
        kept_prefixes().write(str(number), about, [np.zeros(1000, np.uint8)])


def test_list_and_clear(run, entries):
    shown = run("cache", tty=("stdout",))
    assert shown.code == 0 and "me" in shown.out and "400" in shown.out and "\x1b[31m" not in shown.out
    assert "2 prefilled voices" in shown.err and "of 1.1 GB" in shown.err
    listed = run("cache", "list", "--json").json
    assert {entry["voices"][0] for entry in listed["entries"]} == {"me", "anna\x1b[31m"} and listed["bytes"] > 2000
    assert "2 prefilled voices cleared" in run("cache", "clear").err
    assert kept_prefixes().entries() == [] and "no voice is prefilled" in run("cache").err
    assert run("cache", "clear", "--json").json["entries"] == []


def test_a_header_of_a_stranger_s(run):
    kept_prefixes().write("k", {"voices": 3, "positions": None}, [])
    assert run("cache").code == 0


def test_a_wrong_action(run):
    assert run("cache", "empty").code == 2


@pytest.mark.parametrize("words, wanted", [((), True), (("--no-prefix-cache",), False)])
def test_say_does_without(run, tts, words, wanted):
    assert run("say", "Hello.", "-o", "a.wav", *words).code == 0
    assert tts.loaded[0]["prefix_cache"] is wanted
