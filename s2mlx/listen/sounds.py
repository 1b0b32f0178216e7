"""How an English word sounds, by the bundled voice's tokenizer, which turns letters into phones: "rain" is "reign"."""

from __future__ import annotations

import contextlib
from functools import cache, lru_cache

from ..errors import S2Error
from ..files.folders import assets_dir
from ..text.tokenizer import Tokenizer, load_tokenizer

_GAP = "\ue0f9"  # the tokenizer's mark between two words
# Where the table has the weak form of a word, or one of two.
_STRONG = {"to": "too", "they're": "there"}


@lru_cache(4096)
def sound(text: str) -> str:
    """Phones of a text, a character each, spaces aside; empty where nothing is known of it or no voice is bundled."""
    table = _table()
    if table is None or not text:
        return ""
    try:
        phones = table.encode(" ".join(_STRONG.get(word, word) for word in text.split()))
    except S2Error:
        return ""
    return "".join(table.decode(phones).replace(_GAP, "").split())


@cache
def _table() -> Tokenizer | None:
    folder = assets_dir()
    if folder is not None:
        with contextlib.suppress(S2Error):
            return load_tokenizer(folder / "nano")
    return None
