"""`say --check`: what was heard is told, and what it decides."""

import pytest

from s2mlx.errors import EarError
from s2mlx.listen import Difference
from s2mlx.results import Hearing

GOOD = Hearing("one", 1, 0)
BAD = Hearing(
    "to to",
    2,
    3,
    (Difference("doubled", "", "to", (0, 0)), Difference("missing", "Two", "", (0, 3))),
    right=False,
    takes=3,
)


@pytest.fixture(autouse=True)
def ear(monkeypatch):
    monkeypatch.setattr("s2mlx.listen.check_ear", lambda *a: None)


def test_the_options_reach_the_engine_and_the_last_line_tells_what_was_heard(run, tts, player):
    tts.hearings = [GOOD, GOOD]
    result = run("say", "One. Two.", "--check", "--takes", "5", tty=("stderr",))
    options = tts.calls[-1].options
    assert result.code == 0 and (options.check, options.takes) == (True, 5)
    assert result.err.endswith(", heard with word error rate 0.00, 2 passes in 2 takes\n")


def test_the_recognizer_may_be_named(run, tts, player):
    assert run("say", "One.", "--check", "--ear", "moonshine").code == 0 and tts.ear == "moonshine"


def test_words_that_stay_wrong_are_shown(run, tts, player, tmp_path):
    tts.hearings = [GOOD, BAD]
    result = run("say", "One. Two.", "--check", "-o", "a.wav", "--quiet")
    assert result.code == 0 and (tmp_path / "a.wav").exists()
    assert result.err == 'warning: \'Two.\' ...: "to" was heard twice; "Two" was not heard (best of 3 takes)\n'


def test_strictly_they_are_an_error_and_the_rest_is_told_all_the_same(run, tts, player, tmp_path):
    tts.hearings = [GOOD, BAD]
    result = run("say", "One. Two.", "--check", "--strict", "-o", "a.wav", "--json")
    assert result.code == 1 and result.json["output"] == "a.wav" and (tmp_path / "a.wav").exists()
    assert result.error == (
        "error: 1 of 2 passes were not heard as they are written; try another --seed, or more --takes"
    )
    tts.hearings = [GOOD]
    assert run("say", "One. Two.", "--check", "--strict").code == 0


def test_json_tells_of_each_pass(run, tts, player):
    tts.hearings = [GOOD, BAD]
    first, second = run("say", "One. Two.", "--check", "--no-play", "--json").json["passes"]
    assert {k: first[k] for k in ("heard", "word_error_rate", "takes", "right", "differences")} == {
        "heard": "one",
        "word_error_rate": 0.0,
        "takes": 1,
        "right": True,
        "differences": [],
    }
    assert (second["heard"], second["word_error_rate"], second["takes"], second["right"]) == ("to to", 1.5, 3, False)
    assert second["differences"][0] == {"kind": "doubled", "wanted": "", "heard": "to"}
    help = run("say", "--help").out
    for key in second:
        assert key in help


def test_many_wrong_passes_are_counted(run, tts, player):
    tts.hearings = [BAD]
    result = run("say", " ".join(f"Number {i}." for i in range(9)), "--check")
    assert result.err.count("was heard twice") == 5
    assert "4 more of 9 passes were not heard as they are written" in result.err


def test_a_language_that_the_recognizer_does_not_know_is_said(run, tts, player):
    tts.hearings = [None]
    result = run("say", "Eins. Zwei.", "--check")
    assert result.code == 0 and "2 of 2 passes were not checked: no recognizer here knows their language" in result.err
    tts.hearings = []
    assert "recognizer" not in run("say", "Eins. Zwei.").err


@pytest.mark.parametrize("option", [["--takes", "2"], ["--strict"]])
def test_what_is_of_the_check_is_refused_without_it(run, tts, player, option):
    result = run("say", "One.", *option)
    assert result.code == 2 and "is of --check" in result.error and not tts.loaded


def test_without_a_recognizer_one_line_tells_how_to_get_one(run, tts, player, monkeypatch):
    def nobody(*_):
        raise EarError('no recognizer is installed: pip install "s2mlx[ear]"')

    monkeypatch.setattr("s2mlx.listen.check_ear", nobody)
    result = run("say", "One.", "--check")
    assert result.code == 1 and 'pip install "s2mlx[ear]"' in result.error and not tts.loaded


def test_the_bounds_are_told_in_help(run):
    help = " ".join(run("say", "--help").out.split())
    assert "words of 4 letters or more are missing" in help and "50% of the letters" in help
