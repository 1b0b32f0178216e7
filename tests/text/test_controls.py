"""What steers a terminal is no text: sequences of every kind, and what is left of them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mlx.text import clean_text
from s2mlx.text.controls import clean_with_places

LINK = "\x1b]8;;https://example.com/a?b=1\x1b\\the manual\x1b]8;;\x1b\\"
_PIECES = ["a", "é", " ", "\n", "31m", "[", "]8;;x", "\\", *map(chr, [*range(0x20), *range(0x7E, 0xA1)]), "\x1b[", LINK]
ANY = st.text(max_size=40) | st.lists(st.sampled_from(_PIECES), max_size=30).map("".join)


@pytest.mark.parametrize(
    "text, left",
    [
        ("plain\ttext\r\nand more", "plain\ttext\r\nand more"),
        ("\x1b[31merror\x1b[0m: no", "error: no"),
        ("\x1b[1;38;2;255;0;0mred\x1b[m", "red"),
        ("\x1b[38:5:9mred\x1b[K", "red"),
        ("\x9b31mred\x9b0m", "red"),
        (f"see {LINK} now", "see the manual now"),
        ("\x1b]8;id=1;http://x\x07text\x1b]8;;\x07.", "text."),
        ("\x9d0;title\x9chello", "hello"),
        ("\x1b]0;a title\x07hello", "hello"),
        ("\x1b]52;c;aGVsbG8=\x07hello", "hello"),
        ("\x1b]0;a title without end\nhello", "\nhello"),
        ("\x1bPq#0;2;0;0;0\n#1~~\x1b\\after", "after"),
        ("\x1b_app\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\after", "after"),
        ("\x1bPno end\nafter", "\nafter"),
        ("\x1b(Btext\x1b=\x1b>\x1b7\x1bM", "text"),
        ("\x1b[?25l\x1b[?2004htyped\x1b[200~pasted\x1b[201~", "typedpasted"),
        ("one\x1b[10Ctwo\x1b[2;5Hthree", "one two three"),
        ("N\bNA\bAM\bME\bE and _\bu_\bn", "NAME and un"),
        ("\b\b\nx\b\b\by", "\ny"),
        ("a page\x0canother\x0bline\x85end", "a page\nanother\nline\nend"),
        ("H\0e\0l\0l\0o", "Hello"),
        ("field\x1funit\x1erecord", "field unit record"),
        ("bell\x07 shift\x0e\x0f del\x7f", "bell shift del"),
        ("cut off\x1b", "cut off"),
        ("cut off\x1b[", "cut off"),
        ("cut off\x1b[31", "cut off"),
        # Windows quotes read as Latin-1 are control characters, and lose no word
        ("\x93Hello\x94 \x9bGo\x9d \x9eena \x98x", "Hello Go ena x"),
        ("\N{ZERO WIDTH JOINER}\u0301\u200f", "\N{ZERO WIDTH JOINER}\u0301\u200f"),
    ],
)
def test_what_is_left(text, left):
    assert clean_text(text) == left


@given(ANY)
@settings(max_examples=500, deadline=None)
def test_any_text(text):
    clean, places = clean_with_places(text)
    assert not [c for c in clean if unicodedata.category(c) == "Cc" and c not in "\n\r\t"]
    assert clean_text(clean) == clean
    assert len(places) == len(clean) + 1 and places[-1] == len(text)
    assert all(a < b for a, b in zip(places, places[1:]))
    for character, at in zip(clean, places):
        assert character == text[at] or character in " \n"
    assert (
        "a" not in text.replace(LINK, "")
        or "\x1b" in text
        or "\b" in text
        or any("\x90" <= c <= "\x9f" for c in text)
        or "a" in clean
    )


@pytest.mark.parametrize(
    "piece", ["\x1b", "\x1b[", "\x1b]", "\x1bP", "\x9b1", "\x90", "\x9d", "a\b", "\x1b]8;;\x07", "\x1b[31mx"]
)
@pytest.mark.timeout(60)  # half a second; many minutes if each character looked at all that follow it
def test_long_monotonous_texts_take_linear_time(piece):
    assert len(clean_text(piece * (400_000 // len(piece)))) <= 400_000
