"""The bench that listens: words, faults and pace, of sentences that an ear hears."""

import json
from itertools import cycle
from types import SimpleNamespace

import pytest

from s2mlx.bench import heard
from s2mlx.errors import EarError
from s2mlx.listen import Heard
from tests.cli.conftest import clean_environment, run, tts  # noqa: F401

pytest.importorskip("whisper_normalizer", reason='comparing words needs the extra: pip install "s2mlx[ear]"')

SAID = ["We walk to the river.", "It is late in the evening.", "The garden is green.", "She reads a long letter."]
HEARD = [
    "We walk to the liver.",
    "It is evening.",
    "The garden the garden is green.",
    "She reads a long letter to him today.",
]


@pytest.fixture
def ear(monkeypatch):
    texts = cycle(HEARD)
    one = SimpleNamespace(name="scripted", closed=0, hear=lambda *a: Heard(next(texts)))
    one.close = lambda: setattr(one, "closed", one.closed + 1)
    monkeypatch.setattr(heard, "find_ear", lambda: one)
    monkeypatch.setattr("s2mlx.listen.check_ear", lambda *a: None)
    monkeypatch.setattr(heard, "SENTENCES", SAID)
    return one


def test_faults_are_counted_by_their_kind(run, tts, ear):
    tts.finish = "length"
    found = run("bench", "--heard", "--json").json
    assert found["sentences"] == 4 and found["ended_by_limit"] == 4 and found["ear"] == "scripted"
    assert {k: found[k] for k in heard.FAULTS.values()} == {"skipped": 1, "doubled": 1, "invented": 1, "garbled": 0}
    assert found["words"] == 20 and found["word_error_rate"] == (1 + 3 + 2 + 3) / 20
    assert [row["wrong"] for row in found["differing"]] == [False, True, True, True] and ear.closed == 1
    assert [call.options.seed for call in tts.calls] == [0, 1, 2, 3]
    assert all(found[name] >= 0 for name in ("ear_rtf", "ear_cpu_rtf", "ear_loading")) and json.dumps(found)


def test_people_see_the_words_that_differ(run, tts, ear):
    out = run("bench", "--heard").out
    assert "word error rate    0.450" in out and "skipped            1 sentences" in out
    assert 'differs: We walk to the river.\n    "liver" was heard for "river"\n' in out
    assert 'wrong: The garden is green.\n    "The garden" was heard twice\n' in out


def test_it_needs_an_ear_and_nothing_else(run, tts, monkeypatch):
    def nobody(*_):
        raise EarError('no recognizer is installed: pip install "s2mlx[ear]"')

    monkeypatch.setattr("s2mlx.listen.check_ear", nobody)
    assert 'pip install "s2mlx[ear]"' in run("bench", "--heard").error
    assert "leave out --frames" in run("bench", "--heard", "--frames", "4").error
    assert "leave out --synthetic" in run("bench", "--heard", "--synthetic", "tiny").error
    assert not tts.loaded
