"""What a voice may be called. A name is a folder's name on every file system, and never a path.

Names compare by `key`: without regard to case and to how accents are composed, as macOS compares files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ..errors import VoiceError
from ..text.shown import visible

_MOST_CHARACTERS, _MOST_BYTES = 64, 200  # a file name may have 255 bytes; endings and temporary names need some
_PUNCTUATION = frozenset(" -_.'’&+,()")
# Device names of Windows, with any ending: folders are synchronised and copied to such systems.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def check_name(name: str) -> str:
    """The name as it is kept (NFC, no spaces around); `VoiceError` says what is wrong with one that cannot be."""
    name = unicodedata.normalize("NFC", name.strip())
    wrong = _problem(name)
    if wrong:
        raise VoiceError(f"{printable(name)!r} cannot be the name of a voice: {wrong}")
    return name


def key(name: str) -> str:
    """Equal for names that one file system or another takes for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def printable(name: str) -> str:
    """A file's name fit for a terminal: control characters are shown as signs, a long one is cut."""
    name = visible(name)
    return name if len(name) <= 80 else name[:77] + "..."


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in a sentence; how many more there are is said."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _problem(name: str) -> str | None:
    if not name:
        return "it is empty"
    if len(name) > _MOST_CHARACTERS or len(name.encode("utf-8", "replace")) > _MOST_BYTES:
        return f"it has more than {_MOST_CHARACTERS} characters or {_MOST_BYTES} bytes"
    for character in name:
        if unicodedata.category(character)[0] not in "LMN" and character not in _PUNCTUATION:
            return f"it holds {ascii(character)}; use letters, digits, spaces and - _ . ' & + , ( )"
    if unicodedata.category(name[0])[0] not in "LN":
        return "it must begin with a letter or a digit"
    if name.endswith("."):
        return "it ends in a full stop"
    if key(name).endswith(".s2voice"):
        return "it ends in .s2voice; leave the ending out"
    if _DEVICES.fullmatch(name):
        return "some systems reserve it"
    return None
