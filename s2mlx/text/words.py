"""Whether a text has anything to say: letters, digits, and the symbols that have a name when one reads aloud."""

from __future__ import annotations

import unicodedata

import regex

from .marks import SPEAKER_TAG, TAG

# Letters by Unicode's table that say nothing by themselves: fillers, lines that lengthen a letter, accents apart.
_MUTE = r"[\u115f\u1160\u3164\uffa0\u0640\u30fc\uff70\u02b0-\u02ff]"
_LETTER = regex.compile(rf"(?!{_MUTE})[\p{{L}}\p{{N}}]")
# Money, "&", "%", "+", "≤", "°", and signs that belong to one script, such as ௹. Not what draws: dashes, asterisks,
# bars, arrows, quote marks of mail, pictures. A row of three of a kind is drawn as well.
_READ = r"[\p{Sc}&%+=@#§©®™°‰‱¶±×÷√∞\u2200-\u22ff＆％＋＝＠＃﹠﹪﹢﹦﹫]|(?![\p{Script=Common}\u2800])\p{So}"
_SYMBOLS = regex.compile(rf"({_READ})\1*")
_PICTURE = regex.compile(r"\p{So}")


def has_words(text: str, tags: bool = True) -> bool:
    """Whether a voice has something to say: a letter, a digit, a symbol that is read.

    A speaker tag is not, nor are punctuation and emoji. tags: a `[tag]` is, as for models that laugh at `[laugh]`.
    """
    if tags and any(SPEAKER_TAG.fullmatch(tag.group()) is None for tag in TAG.finditer(text)):
        return True
    text = TAG.sub(" ", text)
    return _LETTER.search(text) is not None or _symbol(text)


def _symbol(text: str) -> bool:
    # asked last and seldom: only of text without any letter
    if any(len(row.group()) < 3 for row in _SYMBOLS.finditer(text)):
        return True
    # ™, ℃, ㎏, Ⓐ: letters in another dress
    return any(_LETTER.search(unicodedata.normalize("NFKC", found.group())) for found in _PICTURE.finditer(text))
