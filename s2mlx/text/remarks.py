"""What a person should know before a text is spoken by this model: languages, tags and spellings it does not know."""

from __future__ import annotations

from collections import Counter

import regex

from ..config import ModelConfig
from .controls import clean_text
from .function_words import FUNCTION_WORDS
from .marks import SPEAKER_TAG, TAG
from .scripts import LANGUAGE_NAMES, LETTERS, SCRIPTS

_SCRIPT = regex.compile("|".join(rf"(?P<{script}>(?=\p{{L}})\p{{Script={script}}})" for script in SCRIPTS))
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_FEW = 3  # letters of a script: fewer are a formula's, or a name's
_LOOKED_AT = 20_000  # characters; what comes later is in the same language, or costs more than a note is worth
_NAMED = 4  # languages
_MOST_SPOKEN = ("zh", "ru", "ar", "hi")  # of those that share a script
_SURE, _SHARE, _MARGIN = 2, 0.2, 1.5  # different words; of all words; times what speaks for a language of the model


def notes(text: str, config: ModelConfig) -> list[str]:
    """One line each, for the command's stderr, a log, a status: what of the text this model cannot speak, and the older
    spelling of speakers. Empty for ordinary text."""
    text = clean_text(text)[:_LOOKED_AT]
    found = []
    if strange := _strange(TAG.sub(" ", text), config.languages):
        found.append(f"{config.name} speaks {spoken(config.languages)}; {strange} become noise, or are left out")
    tags = list(dict.fromkeys(tag for tag in TAG.findall(text) if tag.startswith("[")))
    if tags and not config.tags:
        more = f" and {len(tags) - 2} more" if len(tags) > 2 else ""
        found.append(f"{config.name} knows no tags: {', '.join(tags[:2])}{more} left out")
    if older := next((tag for tag in SPEAKER_TAG.finditer(text) if not tag.group().startswith("<|")), None):
        found.append(f"{older.group()} is read as <|speaker:{older[1]}|>, which is how S2 spells it")
    return found


def language(text: str) -> str | None:
    """The language that a text is in, as far as its script and its small words tell: a code, None for unknown."""
    text = TAG.sub(" ", clean_text(text)[:_LOOKED_AT])
    counts = Counter(found.lastgroup for found in _SCRIPT.finditer(text) if found.lastgroup)
    if counts and 2 * sum(counts.values()) >= sum(map(str.isalpha, text)):
        # the fewest languages share kana, which stand among characters of Chinese
        codes = min((SCRIPTS[str(script)][1] for script in counts), key=len)
        return next((code for code in _MOST_SPOKEN if code in codes), min(codes))
    return _other_language(text, ())


def spoken(languages: tuple[str, ...]) -> str:
    """What a model speaks, in words: "English and German", "83 languages"."""
    if len(languages) > _NAMED:
        return f"{len(languages)} languages"
    names = [LANGUAGE_NAMES.get(code, code) for code in languages]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _strange(text: str, languages: tuple[str, ...]) -> str | None:
    """What the text has of scripts, or of a language in a known script, that none of `languages` is written in."""
    counts = Counter(found.lastgroup for found in _SCRIPT.finditer(text))
    letters = sum(map(str.isalpha, text))
    unknown = [
        SCRIPTS[script][0]
        for script, count in counts.items()
        if script and not SCRIPTS[script][1] & set(languages) and (count >= _FEW or 2 * count >= letters)
    ]
    if unknown:
        return " and ".join(dict.fromkeys(unknown))
    language = _other_language(text, languages)
    return None if language is None else f"{LANGUAGE_NAMES[language]} words"


def _other_language(text: str, languages: tuple[str, ...]) -> str | None:
    """The language that the small words and the letters of the text speak for clearly, if it is none of `languages`."""
    words = [word.casefold() for word in _WORD.findall(text)]
    different = set(words)
    score = {code: sum(word in known.all for word in words) for code, known in FUNCTION_WORDS.items()}
    kinds = {code: len(different & known.all) for code, known in FUNCTION_WORDS.items()}
    for code, letters in LETTERS.items():
        marked = [word for word in words if not set(letters).isdisjoint(word)]
        score[code] += len(marked)
        kinds[code] += len(set(marked))
    if "¿" in text or "¡" in text:
        score["es"] += _SURE
        kinds["es"] += _SURE
    known_best = max((score[code] for code in score if code in languages), default=0)
    best = max(score, key=score.__getitem__)
    sure = kinds[best] >= _SURE and score[best] >= max(_SHARE * len(words), _MARGIN * known_best)
    return best if sure and best not in languages else None
