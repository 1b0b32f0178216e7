"""What is said before a model speaks a text it does not know: in the right cases, and in no other."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings

from s2mlx.config import ModelConfig
from s2mlx.text import SENTENCES_TO_READ, notes, spoken
from tests.text.corpus import ANY_TEXT, SENTENCES
from tests.text.test_cuts import OPENERS, RUN_ON

NANO = dataclasses.replace(ModelConfig(), name="S2-nano", languages=("en",), tags=False)
PRO = ModelConfig()


@pytest.mark.parametrize(
    "text, words",
    [
        ("Guten Tag, wie geht es Ihnen?", "German words"),
        ("Ich bin nicht da.", "German words"),
        ("Fünf Bücher", "German words"),
        ("Hola, ¿qué tal?", "Spanish words"),
        ("Je ne sais pas", "French words"),
        ("天亮之前", "Chinese characters"),
        ("He said 你好世界 and left", "Chinese characters"),
        ("今日は天気がいいです", "Japanese kana"),
        ("한국어", "Korean letters"),
        ("Да", "Cyrillic letters"),
        ("مرحبا", "Arabic letters"),
        ("ສະບາຍດີ", "Lao letters"),
    ],
)
def test_a_language_that_the_model_does_not_speak(text, words):
    [note] = notes(text, NANO)
    assert note.startswith("S2-nano speaks English; ") and words in note and "\n" not in note
    assert notes(text, PRO) == [] or words == "Lao letters"


@pytest.mark.parametrize("language", [code for code in SENTENCES_TO_READ if code != "en"])
def test_sentences_of_other_languages(language):
    for sentence in SENTENCES_TO_READ[language]:
        assert notes(sentence, NANO) and not notes(sentence, PRO)
        speaks_it = dataclasses.replace(NANO, languages=("en", language))
        assert not notes(sentence, speaks_it), sentence


@pytest.mark.parametrize("language", [*OPENERS, "de", "zh", "ja"])
def test_run_on_text_of_other_languages(language):
    assert notes(RUN_ON[language] if language in RUN_ON else "".join(OPENERS[language]), NANO)


@pytest.mark.parametrize(
    "text",
    [
        "Hello there.",
        "No.",
        "5 % & more",
        "π is 3.14",
        "Is he in?",
        "La la la land",
        "Café!",
        "",
        "🙂",
        "on an a in",
        "µm",
    ]
    + ["El Niño de la Playa is a bar in San Juan de la Cruz where we met."]
    + ["\x1b[31mred\x1b[0m", "It was the best of times, it was the worst of times.", *SENTENCES_TO_READ["en"]],
)
def test_ordinary_text_needs_no_note(text):
    assert notes(text, NANO) == notes(text, PRO) == []


def test_no_english_sentence_of_the_corpus_is_taken_for_another_language():
    assert [text for text in SENTENCES["Latin, English"] if any("words" in n for n in notes(text, NANO))] == []


def test_tags_that_the_model_leaves_out():
    assert notes("[laughing] Yes. [sigh] No. [laughing] [whisper]", NANO) == [
        "S2-nano knows no tags: [laughing], [sigh] and 1 more left out"
    ]
    assert notes("[laughing] Yes.", NANO) == ["S2-nano knows no tags: [laughing] left out"]
    assert notes("[laughing] Yes. <|speaker:0|>No.", PRO) == []


def test_the_older_spelling_of_speakers_is_said_once():
    [note] = notes("<speaker:0>Yes. <speaker:1>No.", PRO)
    assert note == "<speaker:0> is read as <|speaker:0|>, which is how S2 spells it"


def test_languages_in_words():
    assert spoken(("en",)) == "English" and spoken(("en", "de", "zz")) == "English, German and zz"
    assert spoken(PRO.languages) == "83 languages"


@given(ANY_TEXT)
@settings(max_examples=200, deadline=None)
def test_any_text(text):
    assert all(note.startswith(("S2-nano ", "<")) and "\n" not in note for note in notes(text, NANO))
