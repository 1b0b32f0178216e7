"""Sentence ends in many scripts, and what holds for every text."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings

from s2mlx.text import split_sentences
from s2mlx.text.marks import SPEAKER_TAG
from tests.text.corpus import ANY_TEXT, SENTENCES

CASES = [(script, marked) for script, texts in SENTENCES.items() for marked in texts]


def normal(marked):
    """The mark stands right after the sentence or after the space that follows; the space belongs to the sentence."""
    return regex.sub(r"‖(\s+)", r"\1‖", marked)


def test_the_corpus_is_wide():
    assert len(CASES) >= 60 and len(SENTENCES) >= 8
    assert len({marked for _, marked in CASES}) == len(CASES)


@pytest.mark.parametrize("script, marked", CASES, ids=lambda v: ascii(v[:20]))
def test_corpus(script, marked):
    text = marked.replace("‖", "")
    assert "‖".join(text[b:e] for b, e in split_sentences(text)) == normal(marked)


@given(ANY_TEXT)
@example("0。्क")
@settings(max_examples=600, deadline=None)
def test_any_text(text):
    spans = split_sentences(text)
    assert "".join(text[b:e] for b, e in spans) == text
    assert all(b < e for b, e in spans)
    ends = {m.end() for m in regex.finditer(r"\X", text)}
    ends |= {m.start() for m in SPEAKER_TAG.finditer(text)}  # a turn begins there, whatever its sign would join
    assert all(e in ends for _, e in spans)


@pytest.mark.parametrize(
    "piece",
    [
        ". ",
        "a. ",
        "1. ",
        "\n",
        '"。',
        "。",
        "[",
        "[a",
        "a.b",
        "‘’",
        "(" * 5,
        " ",
        "A. B. ",
        "<|speaker:1|>",
        "<|",
        "x" * 3,
        "\r",
        "?!",
        "e\u0301",
        "« ",
        "…",
    ],
)
def test_long_monotonous_texts_take_linear_time(piece):
    text = piece * (20_000 // len(piece))
    assert "".join(text[b:e] for b, e in split_sentences(text)) == text
