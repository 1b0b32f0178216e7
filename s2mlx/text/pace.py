"""How long a text takes to say, from its characters alone.

Figures are of ordinary reading: 165 English words, 270 Chinese characters, 330 Korean syllables a minute. An estimate
is good to about a third, which the limits that use it allow for.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from array import array

import regex

from .marks import SPEAKER_TAG, TAG

# Seconds per letter, by the first word of its Unicode name.
_LETTER = {
    "LATIN": 0.068,
    "FULLWIDTH": 0.068,
    "CYRILLIC": 0.072,
    "GREEK": 0.072,
    "ARMENIAN": 0.072,
    "GEORGIAN": 0.072,
    "CJK": 0.22,
    "KANGXI": 0.22,
    "HIRAGANA": 0.13,
    "KATAKANA": 0.13,
    "HALFWIDTH": 0.13,
    "HANGUL": 0.18,
    "BOPOMOFO": 0.1,
    "YI": 0.2,
    "ARABIC": 0.095,
    "HEBREW": 0.1,
    "SYRIAC": 0.1,
    "THAANA": 0.09,  # vowels are mostly not written
    "DEVANAGARI": 0.11,
    "BENGALI": 0.11,
    "GURMUKHI": 0.11,
    "GUJARATI": 0.11,
    "ORIYA": 0.11,
    "TAMIL": 0.11,
    "TELUGU": 0.11,
    "KANNADA": 0.11,
    "MALAYALAM": 0.11,
    "SINHALA": 0.11,
    "THAI": 0.08,
    "LAO": 0.08,
    "KHMER": 0.09,
    "MYANMAR": 0.09,
    "TIBETAN": 0.08,
    "ETHIOPIC": 0.17,
    "CHEROKEE": 0.17,
    "CANADIAN": 0.15,
}
_OTHER_LETTER = 0.08
_DIGIT, _NUMBER, _MARK = 0.28, 0.4, 0.01
_SYMBOL = {"%": 0.5, "&": 0.25, "@": 0.25, "#": 0.3, "°": 0.5, "§": 0.5, "/": 0.1}
_SPACE, _LINE_END = 0.035, 0.2
_SENTENCE_PAUSE, _CLAUSE_PAUSE = 0.4, 0.2
_TAG = 0.5  # a laugh, a sigh; most tags colour the words and take nothing
# The limit of a pass: a slow voice takes twice the estimate at most.
_MOST_TIMES, _MOST_MORE = 3.0, 2.0
_SLOW = regex.compile(r"slow|drawl|drawn|stretch|linger|deliberat|langsam|lent|despacio|慢|ゆっくり", regex.IGNORECASE)
_PAUSE = regex.compile(r"paus|silen|wait|beat|break|stille|停|間", regex.IGNORECASE)
_LONG = regex.compile(r"long|extend|lang|长|長", regex.IGNORECASE)
_NUMBER_IN_TAG = regex.compile(r"\d{1,2}")
_SHORT_PAUSE, _LONG_PAUSE = 4.0, 10.0
_SPELT = regex.compile(r"(?<!\p{L})(?:\p{Lu}{2,}|\p{L})(?!\p{L})")  # "HTML" is said letter by letter
_SPELT_LETTER = 0.2


def estimate_seconds(text: str) -> float:
    """Seconds of speech, pauses included."""
    return cumulative_seconds(text)[-1]


def longest_seconds(text: str) -> float:
    """Seconds within which any voice has said the text: speech that takes longer has run away from it."""
    names = [tag.group() for tag in TAG.finditer(text) if SPEAKER_TAG.fullmatch(tag.group()) is None]
    times = _MOST_TIMES * (2 if any(_SLOW.search(name) for name in names) else 1)
    spelt = _SPELT_LETTER * sum(len(run.group()) for run in _SPELT.finditer(TAG.sub(" ", text)))
    return times * (estimate_seconds(text) + spelt) + sum(map(_pause, names)) + _MOST_MORE


def most_frames(text: str, frame_seconds: float) -> int:
    """`longest_seconds` in frames of so many seconds each."""
    return math.ceil(longest_seconds(text) / frame_seconds)


def _pause(name: str) -> float:
    """Seconds that a tag such as `[long pause]` may be silent."""
    if not _PAUSE.search(name):
        return 0.0
    said = _NUMBER_IN_TAG.search(name)
    return max(_LONG_PAUSE if _LONG.search(name) else _SHORT_PAUSE, 1.5 * int(said.group()) if said else 0.0)


def cumulative_seconds(text: str) -> array:
    """Seconds up to each character, float64 [len(text) + 1]: a span takes c[end] - c[begin]."""
    return running_seconds(text, 0.0, False)[0]


def running_seconds(text: str, total: float, in_pause: bool) -> tuple[array, bytearray]:
    """The same for a text that continues one of `total` seconds, which ended in a pause or not; and before each
    character whether there is a pause, [len(text) + 1]."""
    sums, pauses = array("d", [total]), bytearray([in_pause])
    tags = {tag.start(): tag for tag in TAG.finditer(text)}
    skip_to = 0
    for at, character in enumerate(text):
        if at in tags:
            skip_to = tags[at].end()
            if SPEAKER_TAG.match(text, at) is None:
                total += _TAG
        elif at >= skip_to:
            seconds, pause = _character(character)
            # "?!", "...", spaces and rows of dashes are one pause
            if not (pause and in_pause):
                total += seconds
            in_pause = pause
        sums.append(total)
        pauses.append(in_pause)
    return sums, pauses


@functools.lru_cache(maxsize=8192)
def _character(c: str) -> tuple[float, bool]:
    """Seconds a character takes, and whether it is silence."""
    category = unicodedata.category(c)
    if category[0] == "L":
        name = unicodedata.name(c, "").split() or [""]
        if name[0] == "HANGUL" and name[1] in ("JUNGSEONG", "JONGSEONG"):
            return 0.0, False  # the rest of a syllable written in parts
        return _LETTER.get(name[0], _OTHER_LETTER), False
    if category[0] == "M":
        return _MARK, False
    if category[0] == "N":
        return (_DIGIT if category == "Nd" else _NUMBER), False
    if c in _SYMBOL:
        return _SYMBOL[c], False
    if category in ("Sc", "Sm"):
        return 0.4, False
    if c in "\n\r\u2028\u2029\x85":
        return _LINE_END, True
    if c.isspace():
        return _SPACE, True
    if c in ".!?…。！？｡．؟۔।॥։።။":
        return _SENTENCE_PAUSE, True
    if c in ",;:，、；：،؛—–":
        return _CLAUSE_PAUSE, True
    return 0.0, category[0] in "PZC"
