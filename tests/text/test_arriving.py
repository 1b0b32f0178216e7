"""A text in pieces: the spans of the whole as long as nobody hurries, and harmless cuts where somebody does."""

from __future__ import annotations

import random

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from s2mlx.text import arriving, clean_text, estimate_seconds, split_passes
from s2mlx.text.arriving import ArrivingText, Haste
from s2mlx.text.controls import clean_with_places
from s2mlx.text.marks import TAG
from s2mlx.text.settled import ends_here, settled_sentences
from tests.text.corpus import ANY_TEXT, SENTENCES
from tests.text.test_controls import ANY

CORPUS = [text.replace("‖", "") for texts in SENTENCES.values() for text in texts]
ODD = [
    "<|speaker:1|>", "<speaker:0> ", "[laugh] ", "\n\n", "\r\n", "\x1b[31m", "\x1b]8;;http://x\x07",
    "H\bHe\bello. ", "... ", "🙂 ",
    "word " * 40 + ". ", "and so, " * 30, "12. ", "a. b. c. ", '"Go." ', "“", "\u0301",
    "\x1bP a. b \x1b\\", "\x1b]0;a. b", "[an open one",
    "<|speaker:", "x" * 40,
]  # fmt: skip


def made_up(seed: int) -> str:
    draw = random.Random(seed)
    parts = []
    for _ in range(draw.randint(1, 14)):
        parts.append(draw.choice(CORPUS) if draw.random() < 0.75 else draw.choice(ODD))
        parts.append(draw.choice([" ", " ", "\n", "", "\n\n"]))
    text = "".join(parts)
    return text.lower() if draw.random() < 0.2 else text


def cut(text: str, draw: random.Random) -> list[str]:
    most, pieces = draw.choice([1, 6, 60, 600]), []
    while text:
        size = draw.randint(1, most)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def whole(text: str, limit: float) -> list[tuple]:
    clean, places = clean_with_places(text)
    ends = [0, *(places[span.end] for span in split_passes(clean, limit))]
    return [
        (begin, end, span.pause_after, span.speaker, span.words(clean))
        for begin, end, span in zip(ends, ends[1:], split_passes(clean, limit))
    ]


def in_pieces(pieces: list[str], limit: float) -> tuple[list[tuple], int]:
    """The spans, and how many of them were known before the end."""
    text, said = ArrivingText(limit), []
    for piece in pieces:
        text.add(piece)
        while more := text.certain():
            said += more
    soon = len(said)
    text.end()
    while not text.finished:
        said += text.certain()
    return [(s.begin, s.end, s.pause_after, s.speaker, words) for s, words in said], soon


def test_random_cuts_of_200_texts_give_the_spans_of_the_whole():
    soon = 0
    for seed in range(200):
        draw = random.Random(seed)
        text, limit = made_up(seed), draw.choice([0.5, 3.0, 5.0, 10.0, 30.0])
        spans, early = in_pieces(cut(text, draw), limit)
        assert spans == whole(text, limit), (seed, text)
        soon += early
    assert soon > 500


STRANGE = st.lists(ANY_TEXT | ANY, min_size=1, max_size=4).map("".join).filter(bool)


@given(STRANGE, st.sampled_from([0.3, 5.0, 30.0]), st.randoms(use_true_random=False))
@example("0\x98\x08", 0.3, random.Random(0))  # a backspace behind what was held back
@settings(max_examples=150, deadline=None)
def test_of_any_text_too(text, limit, draw):
    assert in_pieces(cut(text, draw), limit)[0] == whole(text, limit)


@given(STRANGE, st.sampled_from([0.3, 5.0, 30.0]), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_whatever_the_hurry_the_spans_follow_each_other_to_the_end(text, limit, draw):
    arriving, said = ArrivingText(limit), []
    for piece in cut(text, draw):
        arriving.add(piece)
        if draw.random() < 0.1:
            arriving.flush()
        if draw.random() < 0.3:
            said += arriving.certain()
        while draw.random() < 0.6 and (one := arriving.early(draw.choice(list(Haste)))):
            said.append(one)
    arriving.end()
    while not arriving.finished:
        said += arriving.certain()
    ends = [0, *(span.end for span, _ in said)]
    assert [span.begin for span, _ in said] == ends[:-1]
    assert not clean_text(text[ends[-1] :]) or "\b" in text


def test_a_book_is_planned_as_it_comes():
    text = " ".join(CORPUS) * 3
    spans, soon = in_pieces([text[i : i + 4096] for i in range(0, len(text), 4096)], 8.0)
    assert spans == whole(text, 8.0) and soon > 0.7 * len(spans)


def test_what_is_settled_does_not_change():
    for seed in range(60):
        text = made_up(seed)
        capitals = any(c.isupper() for c in text)
        final, _ = settled_sentences(text + " Abc abc. ", 0, capitals)
        for end in range(0, len(text), 7):
            found, up_to = settled_sentences(text[:end], 0, any(c.isupper() for c in text[:end]))
            assert {at for at in found if at <= up_to} == {at for at in final if at <= up_to}, (seed, end)


def early(pieces: list[str], haste: Haste, limit: float = 30.0) -> list[str]:
    """What is given out behind each piece by who always hurries, and at the end."""
    text, said = ArrivingText(limit), []
    for piece in [*pieces, None]:
        text.end() if piece is None else text.add(piece)
        while one := text.early(haste):
            said.append(one)
        while text.ended and not text.finished:
            said += text.certain()
    assert [one.begin for one, _ in said] == [0, *(one.end for one, _ in said)][:-1]
    given = "".join(piece for piece in pieces)
    assert said[-1][0].end == len(given)
    return [given[one.begin : one.end] for one, _ in said]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith paid 3.14 dollars. Mr. Jones did not! Why? Nobody knows it.",
        'She said: "Go away. Now." He went. The end of it',
        "你好。我们今天去公园走走，天气很好。晚上再见！好的。",
        "First line\n\nSecond paragraph. It has two sentences.\nAnd a last line",
        "[whisper] Come closer. [laugh] Got you!",
        "Wait... what? Oh... Right then. So it is.",
    ],
)
def test_letter_by_letter_each_sentence_is_given_out_when_it_is_certain(text):
    found, _ = settled_sentences(text + " Abc abc", 0, True)
    places = [0, *sorted(at for at in found if at < len(text)), len(text)]
    assert early(list(text), Haste.SENTENCE) == [text[a:b] for a, b in zip(places, places[1:])]


@pytest.mark.parametrize(
    "text, line, clause",
    [
        ("It rains.", False, True),
        ("It rains. ", True, True),
        ("It rains.\n", True, True),
        ("It rains", False, False),
        ("A heading\n", True, True),
        ("Well, I ", False, True),
        ("Well,", False, False),
        ("It costs 3.", False, False),
        ("It costs 3,", False, False),
        ("It costs 3.\n", False, True),
        ("We met Dr. ", False, False),
        ("We met Dr.", False, False),
        ("He said “Go.” ", True, True),
        ("Hello. [lau", False, False),
        ("Hello. \x1b[3", False, False),
        ("Hello. <|speaker:", False, True),
        ("你好。", False, True),
        ("Line\r", False, False),  # half of a line end
        ("... ", False, False),
    ],
)
def test_what_a_pause_of_the_writer_makes_good_enough(text, line, clause):
    for haste, wanted in ((Haste.SENTENCE, False), (Haste.LINE, line), (Haste.CLAUSE, clause)):
        arriving = ArrivingText(30.0)
        arriving.add(text)
        assert (arriving.early(haste) is not None) == wanted, haste


def test_a_sentence_longer_than_a_pass_does_not_wait_for_its_end():
    pieces = early(["many words follow each other here "] * 40, Haste.SENTENCE, 5.0)
    assert len(pieces) > 10 and all(estimate_seconds(piece) < 7 for piece in pieces)
    assert all(piece.endswith(" ") for piece in pieces)
    assert len(early(["x" * 2000], Haste.SENTENCE, 5.0)) > 10


def test_the_speaker_goes_on_behind_a_cut():
    text = ArrivingText(30.0)
    text.add("<|speaker:1|>Hello you. How are you? And he")
    words = [text.early(Haste.SENTENCE)[1]]
    text.add("? <|speaker:0|>Well.")
    text.flush()
    text.add(" More.")
    text.end()
    while not text.finished:
        words += [said for _, said in text.certain()]
    assert words == [
        "<|speaker:1|>Hello you. How are you?",
        "<|speaker:1|>And he?",
        "<|speaker:0|>Well.",
        "<|speaker:0|>More.",
    ]


def test_a_flush_ends_whatever_was_begun():
    text = ArrivingText(30.0)
    text.add("Half a wo")
    text.flush()
    text.add("rd. \x1b[3")
    text.flush()
    assert [words for _, words in text.certain() + text.certain()] == ["Half a wo", "rd."]
    text.end()
    assert text.finished


@pytest.mark.parametrize(
    "text, kept",
    [
        ("It rains. We stay at ho", "It rains. "),
        ("It rains. We stay at home.", "It rains. We stay at home."),
        ("It ra", ""),
        ("Hello. [laugh", "Hello. "),
    ],
)
def test_of_a_writer_that_failed_only_what_is_complete_is_spoken(text, kept):
    arriving = ArrivingText(30.0)
    arriving.add(text)
    arriving.fail()
    said = [] if arriving.finished else arriving.certain()
    assert (said[-1][0].end if said else 0) == len(kept) and arriving.finished


def test_nothing_that_cannot_be_said_fills_the_memory():
    text = ArrivingText(5.0)
    for _ in range(100):
        text.add("." * 1000)
        while text.early(Haste.SENTENCE):
            pass
    assert len(text) < 5000
    text.add(" Words at last. And more of them")
    assert text.early(Haste.SENTENCE)[1].endswith("Words at last.")


def test_the_past_is_forgotten():
    text = ArrivingText(10.0)
    for _ in range(300):
        text.add("A sentence comes. " * 20)
        text.certain()
        while text.early(Haste.SENTENCE):
            pass
    assert len(text) < 1000 and len(text._before.text) < 5000


def test_bare_marks_are_no_ends_amid_a_number():
    assert ends_here("Hello.", 0, True, spaced=False) and not ends_here("Version 2.", 0, True, spaced=False)


def test_no_cut_harms_a_number_a_tag_a_sequence_or_a_letter():
    whole_ones = regex.compile(r"\d[.,]?\d|\p{L}[\p{M}\u200d]|\r\n|\x1b(?:\[[0-9;]*[A-Za-z]|\].*?\x07)|" + TAG.pattern)
    cuts = 0
    for seed in range(150):
        draw, text = random.Random(seed), made_up(seed)
        arriving, ends = ArrivingText(30.0), []
        for piece in cut(text, draw):
            arriving.add(piece)
            while said := arriving.early(draw.choice(list(Haste))):
                ends.append(said[0].end)
        cuts += len(ends)
        for found in whole_ones.finditer(text, overlapped=True):
            harmed = [end for end in ends if found.start() < end < found.end()]
            assert not harmed, (seed, found.group(), text[harmed[0] - 20 : harmed[0] + 20])
    assert cuts > 300


def test_unbroken_text_in_pieces_is_looked_at_a_bounded_number_of_times(monkeypatch):
    """The work for each character, however much has come."""
    looked = []
    monkeypatch.setattr(
        arriving,
        "settled_sentences",
        lambda whole, *more: looked.append(len(whole)) or settled_sentences(whole, *more),
    )
    for characters in (5_000, 20_000):
        looked.clear()
        text = ArrivingText(30.0)
        for _ in range(characters // 100):
            text.add("a" * 100)
            assert text.certain() == []
        assert sum(looked) < 120 * characters
