"""Foreign words made safe to show: names of files and devices, words of models, texts of clients.

A terminal obeys control characters and turns text around at bidirectional ones, whoever wrote them. `controls` takes
them out of what is to be spoken; here each becomes a sign that can be seen.
"""

from __future__ import annotations

import re

# C0, DEL and C1; marks, embeddings, overrides and isolates of bidirectional text; line and paragraph separators, which
# some take for the end of a line; interlinear notes; what is no character.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]")
_DELETE = 0x2421


def visible(text: str, *, lines: bool = False) -> str:
    """The text with a sign in the place of each character that would steer a terminal: ␛ for ESC, <U+202E> for one
    without a sign of its own, � for half a character. lines: line ends and tabs stay. Idempotent."""
    return _CONTROL.sub(lambda found: _sign(found.group(), lines), text)


def _sign(character: str, lines: bool) -> str:
    code = ord(character)
    if lines and character in "\n\t":
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return chr(_DELETE)
    return "\ufffd" if 0xD800 <= code < 0xE000 else f"<U+{code:04X}>"
