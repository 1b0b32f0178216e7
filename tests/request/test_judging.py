"""What the ear makes of a pass: the words that differ, and whether that is the speech's fault."""

from types import SimpleNamespace

import numpy as np
import pytest

from s2mlx.errors import EarError
from s2mlx.listen import Heard
from s2mlx.request import judging
from s2mlx.request.judging import EarJudge

pytest.importorskip("whisper_normalizer", reason='comparing words needs the extra: pip install "s2mlx[ear]"')

TEXT = "The train leaves at seven, and we will be home before it rains."
SOUND = np.ones(100, np.float32)


def ear(text):
    return SimpleNamespace(name="moonshine", hear=lambda *a: Heard(text), close=lambda: None)


def judged(heard, text=TEXT, samples=SOUND):
    return EarJudge(ear(heard))(text, samples, 16000)


@pytest.mark.parametrize(
    "heard, errors, right",
    [
        ("the train leaves at 7 and we'll be home before it rains", 0, True),
        ("The rain leaves at seven, and we will be home before it reigns.", 1, True),
        ("The trainer leaves at seven and we will be home before rains.", 2, True),  # a letter here, a word there
        ("The train leaves at seven, and before it rains.", 4, False),  # skipped
        ("The train leaves at seven, at seven, and we will be home before it rains.", 2, False),  # doubled
        ("The train leaves at seven, and we will be home before it rains tomorrow.", 1, False),  # invented
        ("The train leaves at seven, and we.", 6, False),  # ended early
        ("Some garden pencils never tasted purple under a ladder, as many windows agree.", 13, False),  # babbled
        ("", 13, False),
    ],
)
def test_right_and_wrong(heard, errors, right):
    hearing = judged(heard)
    assert (hearing.right, hearing.words) == (right, 13)
    assert abs(hearing.errors - errors) <= 1 and hearing.text == heard
    assert (not hearing.differences) == (not hearing.errors)


def test_tags_are_no_words():
    assert judged("hello there", "<|speaker:1|>[whisper] Hello [laughing] there.").word_error_rate == 0


def test_no_sound_is_not_given_to_the_ear():
    nobody = SimpleNamespace(name="moonshine", hear=None)
    assert not EarJudge(nobody)(TEXT, SOUND[:0], 16000).right


def test_a_language_that_the_ear_does_not_know_is_not_judged():
    assert judged("nonsense", "Der Zug fährt um sieben, und wir sind zu Hause, bevor es regnet.") is None
    assert judged("nonsense", "今日はいい天気ですね。") is None


def test_an_ear_for_the_language_goes_first_and_any_is_better_than_none(monkeypatch):
    asked = []

    def find(name, language=None):
        asked.append((name, language))
        if language == "de":
            raise EarError("none knows it")
        return ear("")

    monkeypatch.setattr(judging, "find_ear", find)
    judging.open_judge(None, "Der Zug fährt um sieben, und wir sind zu Hause, bevor es regnet.")
    judging.open_judge("moonshine", TEXT)
    assert asked == [(None, "de"), (None, None), ("moonshine", "en")]
