"""Words are compared as people hear them; those that differ are found where they stand."""

import pytest

from s2mlx.listen import compare

pytest.importorskip("whisper_normalizer", reason='comparing words needs the extra: pip install "s2mlx[ear]"')


@pytest.mark.parametrize(
    "wanted, heard",
    [
        ("It's 7:30, isn't it?", "it is seven thirty is not it"),
        ("The rain in Spain.", "the reign in spain"),
        ("In 1984 we had 20 cats.", "in nineteen eighty-four we had twenty cats"),
        ("Everyone likes ice cream", "every one likes icecream"),
        ("The colour of the theatre", "the color of the theater"),
        ("Hello [laugh] there <|speaker:1|>you", "hello there you"),
        ("Mary’s lamb", "marys lamb"),
        ("He paid $20 million.", "he paid twenty million dollars"),
        ("today we go", "to-day we go"),
        ("two cats, too", "too cats 2"),
        ("1 cat", "one cat"),
        ("I'd go", "I would go"),
        ("100%", "one hundred percent"),
        ("gray & grey", "grey and gray"),
        ("They're over there.", "their over they're"),
        ("A well-known saying", "a wellknown saying"),
        ("Um, well, the 21st, uh.", "well the twenty first"),
        ("", ""),
    ],
)
def test_what_sounds_alike_is_alike(wanted, heard):
    for a, b in [(wanted, heard), (heard, wanted)]:
        found = compare(a, b)
        assert (found.errors, found.differences) == (0, ()), [str(each) for each in found.differences]


@pytest.mark.parametrize(
    "wanted, heard, counts, said",
    [
        ("the cat sat on the mat", "the cat sat on mat", (1, 0, 0), ['"the" was not heard']),
        ("the cat sat", "the cat cat sat", (0, 1, 0), ['"cat" was heard twice']),
        ("one two three", "one two one two three", (0, 2, 0), ['"one two" was heard twice']),
        ("The cat sat.", "the dog sat", (0, 0, 1), ['"dog" was heard for "cat"']),
        ("hello there", "Hello there, my friend.", (0, 2, 0), ['"my friend" was heard besides']),
        ("it isn't here", "it is here", (1, 0, 0), ['"isn\'t" was not heard']),
        ("hello", "", (1, 0, 0), ['"hello" was not heard']),
        ("", "noise", (0, 1, 0), ['"noise" was heard besides']),
    ],
)
def test_words_that_differ_are_named(wanted, heard, counts, said):
    found = compare(wanted, heard)
    assert (found.missing, found.added, found.replaced) == counts
    assert [str(each) for each in found.differences] == said


def test_a_difference_knows_its_place_and_the_rate_its_share():
    text = "Yes, [laugh] the big red cat sat."
    found = compare(text, "yes the cat sat down")
    assert [text[slice(*each.span)] for each in found.differences] == ["big red", ""]
    assert found.differences[1].span == (len(text) - 1, len(text) - 1)
    assert found.words == 6 and found.rate == 3 / 6


def test_other_languages_are_compared_by_their_words_and_scripts_without_spaces_by_their_characters():
    assert compare("Grüße, Ärger!", "grüße ärger", "de").errors == 0
    assert compare("Es ist zwei", "es ist drei", "de").replaced == 1
    found = compare("今日は、いい天気", "今日はいい天", "ja")
    assert (found.words, found.missing, found.errors) == (7, 1, 1)
