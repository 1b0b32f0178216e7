"""The sentences: enough languages, the right length, found by any spelling of a language code."""

import pytest

from s2mlx.text.pace import estimate_seconds
from s2mlx.text.read_aloud import SENTENCES_TO_READ, languages, sentences_to_read

# How many characters are spoken in a second, roughly: syllable and word scripts need fewer.
PACE = {"ja": 6.0, "zh": 4.5, "ko": 6.5}


def test_languages():
    assert {"en", "de", "fr", "es", "it", "pt", "ja", "zh", "ko", "ar", "hi"} <= set(languages())


@pytest.mark.parametrize("code", languages())
def test_length_and_cleanness(code):
    assert 2 <= len(SENTENCES_TO_READ[code]) <= 3
    for text in SENTENCES_TO_READ[code]:
        seconds = len(text) / PACE.get(code, 14.5)
        assert 7 < seconds < 13, (seconds, text)
        assert text == " ".join(text.split()) and text[-1] in ".。।" and not set(text) & set("[]<>|0123456789")


@pytest.mark.parametrize(
    "code,language",
    [("de", "de"), ("pt-BR", "pt"), ("zh_CN.UTF-8", "zh"), ("JA", "ja"), ("xx", "en"), ("C.UTF-8", "en"), ("", "en")],
)
def test_codes(code, language):
    assert sentences_to_read(code) == SENTENCES_TO_READ[language]


def test_the_systems_language(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    assert sentences_to_read() == SENTENCES_TO_READ["fr"]


def test_short_ones_for_a_model_that_follows_a_few_seconds():
    short = sentences_to_read("en", 6.0)
    assert len(short) == 3 and all(4.5 < estimate_seconds(sentence) <= 6.0 for sentence in short)
    assert sentences_to_read("en", 20.0) == SENTENCES_TO_READ["en"]
    assert sentences_to_read("de", 6.0) == SENTENCES_TO_READ["de"]  # none shorter
    assert sentences_to_read("xx", 6.0) == short
