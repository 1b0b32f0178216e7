"""A text as passes: what is left out, what becomes a pause, and where each stands in the text as it was given."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mlx.errors import UsageError
from s2mlx.request.passes import plan_passes
from s2mlx.text import clean_text
from tests.text.corpus import ANY_TEXT
from tests.text.test_controls import ANY


def said(text, **limits):
    return [p.text for p in plan_passes(text, **limits)]


@pytest.mark.parametrize(
    "text", ["", " \n", "🙂", "...", "---", "***", "<|speaker:0|>", "<speaker:0> …", "\x1b[31m\x1b[0m", "\0"]
)
def test_nothing_to_say(text):
    with pytest.raises(UsageError, match="nothing to say"):
        plan_passes(text)


def test_what_the_model_cannot_say_is_a_pause():
    text = "<|speaker:0|>One two.<|speaker:1|>[laugh]<|speaker:0|>Three.<|speaker:1|>[laugh]"
    everything = plan_passes(text)
    assert [p.pause_after for p in everything] == [True, True, True, False] and everything[
        1
    ].text == "<|speaker:1|>[laugh]"
    words = plan_passes(text, can_say=lambda said: "[" not in said)
    assert [(p.index, p.text, p.pause_after) for p in words] == [
        (0, "<|speaker:0|>One two.", True),
        (1, "<|speaker:0|>Three.", False),
    ]


def test_a_cut_within_a_sentence_becomes_a_pause_where_something_is_left_out():
    text = "word " * 20 + "🙂 " * 2000 + "word " * 20
    first, *rest = plan_passes(text, max_seconds=3.0, can_say=lambda said: "word" in said)
    assert rest and text[first.span[0] : first.span[1]].strip() == first.text


def test_spans_are_those_of_the_given_text():
    text = "\x1b[1mOne \x1b[31mtwo\x1b[0m.\x1b[m <speaker:1>Thr\x1b]8;;http://x\x07ee\x1b]8;;\x07.\x1b[0m"
    one, two = plan_passes(text)
    assert (one.text, two.text) == ("One two.", "<|speaker:1|>Three.")
    assert text[: two.span[0]].endswith("\x1b[m ") and (one.span[0], two.span[1]) == (0, len(text))
    assert one.span[1] == two.span[0]


@given(ANY_TEXT | ANY, st.sampled_from([0.3, 5.0, 30.0]))
@settings(max_examples=300, deadline=None)
def test_any_text(text, max_seconds):
    try:
        passes = plan_passes(text, max_seconds)
    except UsageError:
        return
    last = 0
    for p in passes:
        begin, end = p.span
        assert last <= begin < end <= len(text)
        last = end
        assert not any(c < " " and c not in "\n\r\t" for c in p.text)
        assert "<speaker:" not in p.text
        words = p.text.split("|>", 1)[1] if p.text.startswith("<|speaker:") and "<" not in text[begin:end] else p.text
        if p.speaker is None:
            assert (
                words == clean_text(text[begin:end]).strip()
                or "\b" in text
                or "\x1b" in text
                or any("\x90" <= c <= "\x9f" for c in text)
            )
    assert not passes[-1].pause_after
