"""Foreign words on a terminal: seen, not obeyed."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from s2mlx.text import visible


def test_controls_are_signs():
    assert visible("\x1b[2J\x07\x00\x7f") == "␛[2J␇␀␡"
    assert visible("\x1b]52;c;aGk=\x1b\\") == "␛]52;c;aGk=␛\\"
    assert visible("\x9b31m\x85") == "<U+009B>31m<U+0085>"
    assert visible("a\u202eb\u2066c\u200f") == "a<U+202E>b<U+2066>c<U+200F>"
    assert visible("a\udcc3b") == "a\ufffdb"


def test_lines_stay_where_they_are_wanted():
    assert visible("a\n\tb\r\n") == "a␊␉b␍␊"
    assert visible("a\n\tb\r\n", lines=True) == "a\n\tb␍\n"


def test_words_of_all_scripts_stay():
    for text in ("Grüße", "你好", "שלום", "می‌خواهم", "👩‍🚀 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "naïve – “so”"):
        assert visible(text) is text or visible(text) == text


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_nothing_that_steers_is_left(text):
    shown = visible(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(c) for c in shown} & {
        "LRE",
        "RLE",
        "LRO",
        "RLO",
        "PDF",
        "LRI",
        "RLI",
        "FSI",
        "PDI",
    }
    assert visible(shown) == shown
