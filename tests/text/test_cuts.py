"""Where text is cut that no mark cuts: never behind a tag, rather where a clause begins."""

from __future__ import annotations

import random

import pytest

from s2mlx.text import estimate_seconds, split_passes, split_sentences
from s2mlx.text.clauses import shares
from s2mlx.text.marks import SPEAKER_TAG, TAG
from s2mlx.text.words import has_words
from tests.text.corpus import SENTENCES

WORDS = "harbour morning whistle the a of and but which rope dog storm quiet old yellow seventeen went stayed never then".split()
TAGS = ["[laugh]", "[whisper]", "[with a smile]", "[long pause]", "[sigh]"]


def passes(text, limit):
    return [text[s.begin : s.end] for s in split_passes(text, limit)]


def random_text(seed, words=WORDS, space=" "):
    draw = random.Random(seed)
    return space.join(draw.choice(TAGS) if draw.random() < 0.12 else draw.choice(words) for _ in range(250))


def ends_in_a_tag(text):
    """A tag stands at the end, or nothing but marks behind it."""
    tags = [tag for tag in TAG.finditer(text) if not SPEAKER_TAG.fullmatch(tag.group())]
    return bool(tags) and not has_words(text[tags[-1].end() :])


@pytest.mark.parametrize("limit", [5.0, 7.0, 30.0])
@pytest.mark.parametrize(
    "words", [WORDS, [w + "," for w in WORDS], list("天亮之前港口十分安静")], ids=["words", "commas", "Han"]
)
def test_a_pass_never_ends_behind_a_tag(words, limit):
    cuts = 0
    for seed in range(25):
        text = random_text(seed, words, "" if words[0] == "天" else " ")
        end = 0
        for piece in passes(text, limit)[:-1]:
            end += len(piece)
            cuts += 1
            assert not ends_in_a_tag(piece), piece
            # nor within a word or two of it, where the tag could go with them; another tag ends its words
            tags = list(TAG.finditer(piece))
            if words is WORDS and tags and tags[-1].start() and not TAG.match(text, end):
                assert estimate_seconds(piece[tags[-1].end() :]) > 1, piece
    assert cuts > 40


def test_tags_in_a_row_and_nothing_else_stay_within_the_limit():
    assert all(estimate_seconds(piece) < 6 for piece in passes("[laugh] " * 200, 5.0))


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("[whisper]\nIt was night. It was cold.", ["[whisper]\nIt was night. ", "It was cold."]),
        ("It was night. [whisper]\n\nIt was cold.", ["It was night. ", "[whisper]\n\nIt was cold."]),
        ("It was night. [sigh]... It was cold.", ["It was night. ", "[sigh]... It was cold."]),
        ("It was night. [laugh]", ["It was night. [laugh]"]),
        ("It was night.\n\n🙂 ***\n\nIt was cold.", ["It was night.\n\n🙂 ***\n\n", "It was cold."]),
        ("[laugh]<|speaker:1|>Oh.", ["[laugh]", "<|speaker:1|>Oh."]),
        ("<|speaker:0|>Ha. [laugh]<|speaker:1|>Oh.", ["<|speaker:0|>Ha. [laugh]", "<|speaker:1|>Oh."]),
        ("<|speaker:0|>[laugh]. ...<|speaker:1|>Oh.", ["<|speaker:0|>[laugh]. ...", "<|speaker:1|>Oh."]),
    ],
)
def test_a_sentence_of_tags_goes_with_its_words(text, sentences):
    assert [text[b:e] for b, e in split_sentences(text)] == sentences


RUN_ON = {
    "en": "so we went down to the harbour and then he told me that the boat had already left|which was strange because "
    "nobody had seen it leave so I asked the man who sells the tickets|and he said that it would come back in the evening "
    "when the wind turns",
    "de": "also wir sind dann zum Hafen gegangen und dann hat er mir erzählt dass das Boot schon weg war|was seltsam war weil "
    "niemand es gesehen hatte und ich habe den Mann gefragt der die Karten verkauft",
    "zh": "然后我们去了港口但是船已经走了因为没有人看到它离开|所以我问了卖票的人而且他说晚上会回来|如果风向变了的话我们就可以坐下一班船回家",
    "ja": "それで港まで行ったのですが船はもう出てしまっていたので|切符を売っている人に聞いたところ夕方には戻ってくると言われたから待つことにしました",
}


@pytest.mark.parametrize("language", RUN_ON)
def test_run_on_text_is_cut_where_a_clause_begins(language):
    pieces = [part + " " * part[-1].isascii() for part in RUN_ON[language].split("|")]
    pieces[-1] = pieces[-1].rstrip()
    assert passes("".join(pieces), 7.0) == pieces


OPENERS = {
    "fr": ("le vieux bateau est parti vers la grande île verte", " parce que "),
    "es": ("el viejo barco se fue hacia la gran isla verde", " porque "),
    "it": ("la vecchia barca era partita verso la grande isola verde", " perché "),
    "pt": ("o velho barco foi embora para a grande ilha verde", " porque "),
    "nl": ("de oude boot was al naar het grote groene eiland vertrokken", " omdat "),
    "sv": ("den gamla båten har redan seglat till den stora gröna ön", " eftersom "),
    "pl": ("stara łódź już odpłynęła na dużą zieloną wyspę i nie wróciła", " ponieważ "),
    "ru": ("старая лодка уже ушла на большой зелёный остров и не вернулась", " потому "),
    "el": ("το παλιό καράβι είχε φύγει για το μεγάλο πράσινο νησί", " επειδή "),
    "tr": ("eski tekne çoktan büyük yeşil bir adaya doğru yola çıktı", " çünkü "),
    "hi": ("वह पुरानी नाव पहले ही एक बड़े हरे द्वीप की ओर चली गई थी", " क्योंकि "),
    "ar": ("كان المركب القديم قد ذهب إلى الجزيرة الخضراء الكبيرة", " لأن "),
    "ko": ("낡은 배가 이미 크고 푸른 섬으로 떠났", "는데 "),
}


@pytest.mark.parametrize("language", OPENERS)
def test_clauses_of_many_languages(language):
    clause, opener = OPENERS[language]
    text = opener.join([clause] * 12)
    limit = 2.6 * estimate_seconds(clause + opener)
    cut = passes(text, limit)
    assert len(cut) > 4
    word = opener.strip()
    assert all(p.rstrip().endswith(word) if language == "ko" else True for p in cut[:-1]), cut
    assert language == "ko" or all(p.startswith(word) for p in cut[1:]), cut


def test_without_clauses_a_cut_parts_no_article_from_its_word():
    text = " ".join(["the old yellow boat of a tired fisherman in the quiet harbour"] * 12)
    cut = passes(text, 5.0)
    assert len(cut) > 6
    assert all(
        p.split()[0] in ("the", "of", "a", "in") and p.split()[-1] not in ("the", "of", "a", "in") for p in cut[1:-1]
    )


def test_a_mark_is_better_than_a_word_that_opens():
    clause = "the old boat had left the harbour because of the storm"
    assert all(p.rstrip().endswith(",") for p in passes(", ".join([clause] * 10), 9.0)[:-1])


def test_the_language_by_its_small_words():
    for code, script in (("en", "Latin, English"), ("de", "Latin, German")):
        found = shares(" ".join(SENTENCES[script]))
        assert max(found, key=found.get) == code
    for code, (clause, _) in OPENERS.items():
        found = shares(clause)
        assert code == "ko" or found[code] == max(found.values())


@pytest.mark.parametrize("piece", ["and ", "[x] and ", "天", "の天", "because the ", "[x]a", "x and"])
def test_long_run_on_texts_take_linear_time(piece):
    text = piece * (20_000 // len(piece))
    assert "".join(passes(text, 7.0)) == text
