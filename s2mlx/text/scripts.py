"""Scripts and the languages written in them, and the names of languages. Data only."""

from __future__ import annotations

# What its letters are called, and the languages that a model has to speak one of to know them. Latin is every other
# language's.
SCRIPTS: dict[str, tuple[str, frozenset[str]]] = {
    script: (called, frozenset(languages.split()))
    for script, called, languages in (
        ("Han", "Chinese characters", "zh ja yue"),
        ("Hiragana", "Japanese kana", "ja"),
        ("Katakana", "Japanese kana", "ja"),
        ("Hangul", "Korean letters", "ko"),
        ("Cyrillic", "Cyrillic letters", "ru uk be bg sr mk kk ky mn tg"),
        ("Greek", "Greek letters", "el"),
        ("Arabic", "Arabic letters", "ar fa ur ps sd ug ku ckb"),
        ("Hebrew", "Hebrew letters", "he yi"),
        ("Devanagari", "Devanagari letters", "hi mr ne sa"),
        ("Bengali", "Bengali letters", "bn as"),
        ("Gurmukhi", "Gurmukhi letters", "pa"),
        ("Gujarati", "Gujarati letters", "gu"),
        ("Oriya", "Odia letters", "or"),
        ("Tamil", "Tamil letters", "ta"),
        ("Telugu", "Telugu letters", "te"),
        ("Kannada", "Kannada letters", "kn"),
        ("Malayalam", "Malayalam letters", "ml"),
        ("Sinhala", "Sinhala letters", "si"),
        ("Thai", "Thai letters", "th"),
        ("Lao", "Lao letters", "lo"),
        ("Khmer", "Khmer letters", "km"),
        ("Myanmar", "Burmese letters", "my"),
        ("Tibetan", "Tibetan letters", "bo dz"),
        ("Ethiopic", "Ethiopic letters", "am ti"),
        ("Armenian", "Armenian letters", "hy"),
        ("Georgian", "Georgian letters", "ka"),
        ("Thaana", "Thaana letters", "dv"),
        ("Cherokee", "Cherokee letters", "chr"),
        ("Mongolian", "Mongolian letters", "mn"),
    )
}
# Letters by which a language in Latin script gives itself away.
LETTERS = {
    "de": "äöüß", "fr": "éèêëàâçîïôœùû", "es": "ñáéíóú¿¡", "pt": "ãõçáéêó", "it": "àèìòù", "pl": "ąćęłńśźż", "cs": "čďěňřšťůž",
    "hu": "őűáéöü", "ro": "ășțâî", "tr": "ğışçöü", "sv": "åäö", "da": "æøå", "no": "æøå", "fi": "äö", "vi": "ăđơưạảấầẩậắằếềểệịọốồổộớờợụứừựỳ",
}  # fmt: skip
LANGUAGE_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "no": "Norwegian", "pl": "Polish",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
