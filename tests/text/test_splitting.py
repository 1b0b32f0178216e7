"""Passes of long texts: their limits, where they are cut, turns, pauses."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from s2mlx.errors import UsageError
from s2mlx.text import Span, estimate_seconds, longest_seconds, most_frames, split_passes, split_sentences, split_turns
from s2mlx.text.marks import SPEAKER_TAG, TAG
from tests.text.corpus import ANY_TEXT, SENTENCES

STORY = (
    "The harbour was quiet before dawn. A young fisherman checked his ropes, whistled for the dog, and asked "
    "himself whether the storm had really passed. Dr. Brown, who lived in the U.S. at the time, did not answer. "
    '"Go!" she said. '
)
CHINESE = "天亮之前，港口十分安静。年轻的渔夫检查了绳子，吹口哨叫来小狗，心里想着：暴风雨真的过去了吗？「走吧。」他说。"


def pieces(text, limit):
    return [text[s.begin : s.end] for s in split_passes(text, limit)]


def check(text, max_seconds):
    """What holds for every text and limit."""
    spans = split_passes(text, max_seconds)
    assert "".join(text[s.begin : s.end] for s in spans) == text
    assert all(s.begin < s.end for s in spans)
    assert not spans or not spans[-1].pause_after
    graphemes = {m.end() for m in regex.finditer(r"\X", text)}
    graphemes |= {m.start() for m in SPEAKER_TAG.finditer(text)}  # a turn begins there, whatever its sign would join
    starts = {b for b, _ in split_sentences(text)}
    inside = {at for tag in TAG.finditer(text) for at in range(tag.start() + 1, tag.end())}
    for before, after in zip(spans, spans[1:]):
        at = after.begin
        assert at in graphemes and at not in inside
        assert before.pause_after == (at in starts)
    for s in spans:
        piece = text[s.begin : s.end]
        if estimate_seconds(piece) > max_seconds + 0.4:  # alone, a piece may begin with one more pause
            # only what cannot be cut is longer: one tag or grapheme, with punctuation and spaces around
            assert len(TAG.sub("x", piece).strip()) < 40 and max_seconds < 2
    return spans


@given(ANY_TEXT, st.sampled_from([0.05, 0.3, 1.0, 5.0, 30.0]))
@example("0[<speaker:0>]0", 0.05)
@settings(max_examples=500, deadline=None)
def test_any_text(text, max_seconds):
    check(text, max_seconds)


@pytest.mark.parametrize("script", SENTENCES)
@pytest.mark.parametrize("max_seconds", [2.0, 6.0, 30.0])
def test_the_corpus_in_passes(script, max_seconds):
    text = " ".join(marked.replace("‖", "") for marked in SENTENCES[script]) * 3
    check(text, max_seconds)


@pytest.mark.parametrize("text", [STORY * 12, CHINESE * 12], ids=["English", "Chinese"])
def test_long_text_breaks_at_sentences_evenly(text):
    spans = check(text, 30.0)
    lengths = [estimate_seconds(text[s.begin : s.end]) for s in spans]
    assert len(spans) > 3 and max(lengths) <= 30.0 and min(lengths) > 18.0
    assert all(s.pause_after for s in spans[:-1])


def test_a_short_rest_is_shared_out():
    text = STORY * 2
    total = estimate_seconds(text)
    lengths = [estimate_seconds(p) for p in pieces(text, 0.9 * total)]
    assert len(lengths) == 2 and min(lengths) > 0.3 * total


def test_short_text_is_one_pass():
    assert split_passes("Hello there. How are you?") == [Span(0, 25, False, None)]
    assert split_passes("") == []
    assert split_passes("  \n ") == [Span(0, 4, False, None)]


def test_long_sentence_is_cut_at_clauses():
    text = ", ".join(["and the wind went on over the hills"] * 30) + "."
    spans = check(text, 20.0)
    assert len(spans) > 2
    assert all(text[s.begin : s.end].endswith(", ") and not s.pause_after for s in spans[:-1])


def test_a_cut_clause_is_worse_than_uneven_passes():
    short, long = "It was so. ", "Now " + ", ".join(["and the wind went on over the hills"] * 14) + ". "
    text = short + long
    limit = estimate_seconds(long) + 0.1
    assert pieces(text, limit) == [short, long]


def test_long_clause_is_cut_between_words():
    text = "word " * 300
    spans = check(text, 20.0)
    assert len(spans) > 3 and all(text[s.begin : s.end].endswith("word ") and not s.pause_after for s in spans[:-1])


def test_no_cut_after_abbreviations_or_inside_numbers():
    text = "and Dr. Smith of the U.S. had 1 000 000 or 12 345,67 of J. R. R. Tolkien's " * 12
    cut = "‖".join(pieces(text, 4.0))
    assert cut.count("‖") > 10
    assert not regex.search(r"(Dr\.|U\.S\.|J\.|R\.) ‖|\d ?‖\d", cut), cut


def test_long_runs_without_spaces_are_cut_between_graphemes():
    for unit in ("天", "👨‍👩‍👧", "e\u0301\u0323", "क्षि", "각", "x"):
        text = unit * 900
        graphemes = {m.end() for m in regex.finditer(r"\X", text)}
        spans = check(text, 10.0)
        assert all(s.end in graphemes and not s.pause_after for s in spans)
        assert len(spans) > 1 or unit[0] == "👨"


def test_long_numbers_and_addresses_still_fit():
    check("3." + "14159 " * 200, 10.0)
    assert len(check("https://example.com/" + "abc/" * 300, 10.0)) > 3
    address = "https://example.com/a,b;c?d=e!f. "
    assert all("https" not in p or address.strip() in p for p in pieces(("Look at it, " * 20 + address) * 8, 10.0))


def test_tags_stay_whole():
    text = "[with a smile, and a sigh. Or two!] Go on now " * 60
    for piece in pieces(text, 3.0):
        assert piece.count("[") == piece.count("]")


def test_thai_breaks_between_phrases():
    text = "วันนี้อากาศดีมากครับ " * 60
    assert all(p.endswith("ครับ ") for p in pieces(text, 10.0))


# --- turns ---------------------------------------------------------------------------------------------------------

DIALOGUE = "Narrator first. <|speaker:0|>Hello. <|speaker:1|>Hi! How are you?\n<|speaker:0|>Fine."


def test_turns():
    spans = split_turns(DIALOGUE)
    assert [(s.speaker, DIALOGUE[s.begin : s.end], s.pause_after) for s in spans] == [
        (None, "Narrator first. ", True),
        (0, "<|speaker:0|>Hello. ", True),
        (1, "<|speaker:1|>Hi! How are you?\n", True),
        (0, "<|speaker:0|>Fine.", False),
    ]
    assert split_passes(DIALOGUE) == spans


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        ("Hi", [(None, "Hi")]),
        (" ", [(None, " ")]),
        ("<|speaker:3|>", [(3, "<|speaker:3|>")]),
        ("  <|speaker:0|>Hi", [(0, "  <|speaker:0|>Hi")]),
        ("<|speaker:0|> <|speaker:1|>Hi", [(1, "<|speaker:0|> <|speaker:1|>Hi")]),
        ("<|speaker:0|>Hi<|speaker:1|> ", [(0, "<|speaker:0|>Hi<|speaker:1|> ")]),
        ("a<|speaker:0|>...<|speaker:1|>b", [(None, "a"), (1, "<|speaker:0|>...<|speaker:1|>b")]),
        ("<|speaker:0|>[laugh]<|speaker:1|>5", [(0, "<|speaker:0|>[laugh]"), (1, "<|speaker:1|>5")]),
        ("<|speaker:0|>Hi<|speaker:1|>😀", [(0, "<|speaker:0|>Hi<|speaker:1|>😀")]),
        ("<speaker:0>Hi<|speaker:1|>Oh", [(0, "<speaker:0>Hi"), (1, "<|speaker:1|>Oh")]),
        (
            "<|speaker:x|>a<|speaker:|>b<|speaker:99999|>c<|Speaker:1|>",
            [(None, "<|speaker:x|>a<|speaker:|>b<|speaker:99999|>c<|Speaker:1|>")],
        ),
    ],
)
def test_turns_lose_nothing(text, expected):
    assert [(s.speaker, text[s.begin : s.end]) for s in split_turns(text)] == expected


def test_a_long_turn_keeps_its_speaker():
    text = "<|speaker:1|>" + STORY * 4 + "<|speaker:0|>Oh."
    spans = check(text, 15.0)
    assert [s.speaker for s in spans[:-1]] == [1] * (len(spans) - 1) and spans[-1].speaker == 0
    assert all(s.words(text).startswith("<|speaker:1|>") and s.words(text).count("<|") == 1 for s in spans[:-1])
    assert spans[-1].words(text) == "<|speaker:0|>Oh."
    assert split_passes("  Hi. ")[0].words("  Hi. ") == "Hi."


def test_the_older_spelling_of_a_speaker_is_given_as_the_model_knows_it():
    text = "<speaker:2>" + STORY * 4 + "<speaker:0>Oh."
    assert [s.words(text)[:13] for s in check(text, 15.0)][-2:] == ["<|speaker:2|>", "<|speaker:0|>"]
    assert not any("<speaker" in s.words(text) for s in split_passes(text))


# --- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_limits_that_make_no_sense(limit):
    with pytest.raises(UsageError, match="max_seconds must be above 0"):
        split_passes("Hello", limit)


@pytest.mark.parametrize(
    "piece",
    ["a. ", "<|speaker:1|>", "<|speaker:1|>a ", "x", "a, ", "\u0301", "[x]", "[a", '"a', "1 ", "-", " ", "天", "- "],
)
def test_long_monotonous_texts(piece):
    text = piece * (8000 // len(piece))
    assert "".join(pieces(text, 30.0)) == text


# --- the estimate --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, low, high",
    [
        ("", 0, 0),
        ("   \n", 0, 0.5),
        (STORY, 12, 21),  # 48 words
        (CHINESE, 9, 17),  # 48 characters
        ("夜明け前の港はとても静かでした。若い漁師はロープを確かめ、口笛で犬を呼びました。", 5, 9),
        ("동이 트기 전 항구는 아주 조용했습니다. 젊은 어부는 밧줄을 살펴보고 휘파람으로 개를 불렀습니다.", 5, 10),
        ("قبل الفجر كان الميناء هادئا جدا. فحص الصياد الشاب حباله وصفر للكلب.", 4, 8),
        ("भोर से पहले बंदरगाह बहुत शांत था। युवा मछुआरे ने अपनी रस्सियाँ जाँचीं।", 4, 8),
        ("Привет, как у вас сегодня дела?", 1.5, 3.5),
        ("1984", 0.8, 1.6),
        ("." * 5000, 0, 1),
        ("[whisper] <|speaker:12|>", 0, 1),
    ],
)
def test_estimate(text, low, high):
    assert low <= estimate_seconds(text) <= high


def test_estimate_does_not_depend_on_composition():
    import unicodedata

    for text in ("Café naïve", "안녕하세요 반갑습니다"):
        composed, parts = (estimate_seconds(unicodedata.normalize(f, text)) for f in ("NFC", "NFD"))
        assert composed == pytest.approx(parts, rel=0.1)


@given(ANY_TEXT, ANY_TEXT)
@settings(max_examples=100, deadline=None)
def test_estimate_grows_with_the_text(one, two):
    assert estimate_seconds(one) >= 0
    if not one.endswith(("<", "[")) and "[" not in one + two and "<" not in one + two:
        least, most = estimate_seconds(one), estimate_seconds(one) + estimate_seconds(two)
        assert least - 1e-9 <= estimate_seconds(one + two) <= most + 1e-9


@pytest.mark.parametrize(
    "text, low, high",
    [
        ("", 2, 2),
        ("No.", 3, 4.5),
        (STORY, 40, 70),
        ("[laugh]", 3, 4),
        ("No [long pause] no.", 15, 22),
        ("No [pause] no.", 8, 15),
        ("No [pause 20 seconds] no.", 33, 40),
        ("[slow] " + STORY, 80, 130),
        ("[langsam] [stille] Nein.", 10, 20),
        ("HTML", 5, 7),  # four letters, each said
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 20, 26),
        ("<|speaker:1|>No.", 3, 4.5),
        (CHINESE, 30, 50),
    ],
)
def test_the_most_that_a_text_takes(text, low, high):
    assert low <= longest_seconds(text) <= high
    assert most_frames(text, 0.05) == pytest.approx(longest_seconds(text) / 0.05, abs=1)


@given(ANY_TEXT)
@settings(max_examples=100, deadline=None)
def test_the_most_is_three_times_the_estimate_and_more(text):
    assert longest_seconds(text) >= 3 * estimate_seconds(text) + 2
