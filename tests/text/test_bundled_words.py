"""How the bundled voice's tokenizer reads numbers, sums, places and capitals: as the words that people say."""

import json

import pytest
from tokenizers import Tokenizer

from s2mlx.files.folders import assets_dir

PATH = assets_dir() / "nano" / "tokenizer.json"

SAID = {
    "the 1st of May": "the first of may",
    "his 21st": "his twenty first",
    "the 30th time": "the thirtieth time",
    "the 100th": "the one hundredth",
    "3.14": "three point one four",
    "0.05": "zero point zero five",
    "25,300": "twenty five thousand three hundred",
    "25,050": "twenty five thousand fifty",
    "7,005": "seven thousand five",
    "2,000,000": "two million",
    "2,050,000 people": "two million fifty thousand people",
    "2,000,500": "two million five hundred",
    "1,234,567": "one million two hundred thirty four thousand five hundred sixty seven",
    "1,2,3": "one two three",
    "$1": "one dollar",
    "$1.50": "one dollar fifty",
    "$25,000": "twenty five thousand dollars",
    "$5 and $6": "five dollars and six dollars",
    "9:30": "nine thirty",
    "9:05": "nine oh five",
    "9:00": "nine o'clock",
    "-5 degrees": "minus five degrees",
    "1984": "nineteen eighty four",
    "1905": "nineteen oh five",
    "2007": "two thousand seven",
    "12345": "one two three four five",
    "007": "zero zero seven",
    "115": "one hundred fifteen",
    "Version 2.0": "version two point zero",
    "MR. SMITH": "mister smith",
    "STOP TRYING": "stop trying",
}
SPELT = {"BBC": "b iy b iy s iy", "CPUs": "s iy p iy y uw z", "USA": "y uw eh s ey", "TV": "t iy v iy"}
WHOLE = ["NASA", "NATO", "hmm", "HMM"]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.from_file(str(PATH))


def ids(tokenizer, text):
    """The phones, without the marks of pauses and of gaps between words: what is said, not how it is parted."""
    marks = [tokenizer.token_to_id(mark) for mark in ("\ue0ff", "\ue0f9")]
    assert None not in marks
    return [i for i in tokenizer.encode(text, add_special_tokens=False).ids if i not in marks]


@pytest.mark.parametrize("written", SAID)
def test_numbers_and_signs(tokenizer, written):
    assert ids(tokenizer, written) == ids(tokenizer, SAID[written])


@pytest.mark.parametrize("written", SPELT)
def test_capitals_without_a_vowel_are_spelt(tokenizer, written):
    assert len(ids(tokenizer, written)) == len(SPELT[written].split())


@pytest.mark.parametrize("written", WHOLE)
def test_other_capitals_are_words(tokenizer, written):
    assert ids(tokenizer, written) == ids(tokenizer, written.lower())


RARE = {"turquoise": 6, "cinnamon": 7, "lavender": 7, "hummed": 4, "chalked": 4, "kneecap": 5, "crusted": 7}


@pytest.mark.parametrize("word", RARE)
def test_rare_words_have_as_many_phones_as_people_say(tokenizer, word):
    """By an entry, or by the letter rules."""
    assert len(ids(tokenizer, word)) == RARE[word]


@pytest.mark.parametrize(
    "word, known, phones",
    [("hummed", "drummed", 3), ("chalked", "walked", 3), ("kneecap", "cap", 3), ("crusted", "trusted", 6)],
)
def test_rare_words_end_as_known_ones_do(tokenizer, word, known, phones):
    assert ids(tokenizer, word)[-phones:] == ids(tokenizer, known)[-phones:]


def test_words_that_the_rules_spell_wrongly_have_entries(tokenizer):
    rules = json.loads(PATH.read_text())["normalizer"]["normalizers"]
    entries = {r["pattern"].get("Regex") for r in rules if "pattern" in r}
    assert {rf"\b{word}\b" for word in ("turquoise", "lavender", "colonel", "choir")} <= entries
