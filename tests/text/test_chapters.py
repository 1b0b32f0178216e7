"""Where a text has its chapters: by their headings, and not in its prose."""

import pytest

from s2mlx.text import CHAPTER, split_text

HEADS = (
    "# The harbour|## Two|Chapter 1|CHAPTER II|Chapter One|Chapter Twenty-One|Chapter 3 The Sea|Part IV: Home|Prologue"
    "|Book the Second|Kapitel 3 – Der Hafen|Teil 2|Chapitre premier|Capítulo 7.|Глава первая|第三章 海"
).split("|")
PROSE = (
    "part in the war and was|Part of me wanted to go.|book-shop owner.|Book-shop owner.|Teil-time"
    "|Teil der Sache war das.|Part I played in it was small.|Part 2 of the plan is easy."
    "|Chapters are long.|Books one reads twice are good."
).split("|")


@pytest.mark.parametrize("head", HEADS)
def test_a_heading_begins_one(head):
    text = f"It was late.\n\n{head}\n\nIt goes on."
    assert [text[b:e].strip() for b, e in split_text(text, CHAPTER)] == ["It was late.", f"{head}\n\nIt goes on."]


@pytest.mark.parametrize("line", PROSE)
def test_prose_begins_none(line):
    text = f"It was late.\n\n{line} It goes on.\n\n{line}\nAnd on."
    assert split_text(text, CHAPTER) == [(0, len(text))]


def test_a_line_within_a_paragraph_begins_none():
    text = "He read\nChapter 1\nand slept."
    assert split_text(text, CHAPTER) == [(0, len(text))]
