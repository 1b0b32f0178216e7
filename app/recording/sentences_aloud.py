"""The sentences to read aloud, as the recording screen offers them: languages by their own names."""

from __future__ import annotations

import math

from s2mlx import text as written

_NAMES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "it": "Italiano",
    "pt": "Português",
    "nl": "Nederlands",
    "pl": "Polski",
    "ru": "Русский",
    "tr": "Türkçe",
    "zh": "中文",
    "ja": "日本語",
    "ko": "한국어",
    "ar": "العربية",
    "hi": "हिन्दी",
}


def languages() -> list[tuple[str, str]]:
    """(name, code) of each language there are sentences for."""
    return [(_NAMES.get(code, code), code) for code in written.languages()]


def sentence(language: str, number: int = 0, longest: float = math.inf) -> str:
    """A sentence of that language, English when there is none; `number` walks through them. `longest`: seconds of a
    voice that the model follows."""
    of = written.sentences_to_read(language, longest)
    return of[number % len(of)]
