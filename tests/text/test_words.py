"""What has something to say, by script and kind of character."""

from __future__ import annotations

import pytest

from s2mlx.text.words import has_words
from tests.text.corpus import SENTENCES


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "a",
        "&",
        "%",
        "+",
        "=",
        "$",
        "€ ",
        "@",
        "#",
        "§",
        "100 %",
        "½",
        "²",
        "①",
        "٣",
        "±",
        "≤",
        "∞",
        "°C",
        "™",
        "℃",
        "㎏",
        "№",
    ]
    + ["Ⓐ", "㈱", "1️⃣", "௹", "﷽", "＆", "++", "...5...", "🙂 ok", "- & -", "ー猫ー", "[sic", "ツ", "々", "…あ"],
)
def test_words(text):
    assert has_words(text) and has_words(text, tags=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "🙂",
        "👍🏽",
        "👨‍👩‍👧",
        "🇩🇪",
        "❤️",
        "...",
        "…",
        "---",
        "—",
        "***",
        "* * *",
        "~",
        "|",
        "||",
        "_",
        "<>",
        "→",
        "⇒ ← ↑",
    ]
    + [
        "=====",
        "### ###",
        "+++",
        "$$$",
        "&&&&",
        "★☆",
        "•",
        "¿?",
        "。",
        "「」",
        "、",
        "؟",
        "।",
        "ـــ",
        "ーーー",
        "\u3164\uffa0",
    ]
    + [
        "\u0301",
        "\u200d",
        "\ufeff",
        "\u200b",
        "´",
        "^_^",
        ":-)",
        "<|speaker:0|>",
        "<speaker:1> 🙂",
        "♪♫",
        "©©©",
        "▓▒░",
        "┌──┐",
        "⠀",
    ],
)
def test_no_words(text):
    assert not has_words(text) and not has_words(text, tags=False)


def test_every_script_has_words():
    assert all(has_words(word) for texts in SENTENCES.values() for text in texts for word in [text.replace("‖", "")])


@pytest.mark.parametrize("text", ["[laugh]", " [with a smile]...", "<|speaker:1|>[sigh]", "🙂 [laugh] 🙂"])
def test_a_tag_is_meant_where_the_model_has_tags(text):
    assert has_words(text) and not has_words(text, tags=False)
