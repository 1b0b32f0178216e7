"""The names of a GGUF model in several files: NAME-00001-of-00003.gguf and so on."""

from __future__ import annotations

import re
from pathlib import Path

MOST_PARTS = 999
_NAME = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<ending>\.gguf)", re.IGNORECASE)


def parts_of(path) -> list[Path]:
    """All parts of the model that the name `path` is a part of, in order; of any other name, itself."""
    path = Path(path)
    match = _NAME.fullmatch(path.name)
    count = int(match["count"]) if match else 0
    if match is None or not 1 <= int(match["number"]) <= count <= MOST_PARTS:
        return [path]
    name = f"{match['stem']}-{{:05}}-of-{match['count']}{match['ending']}"
    return [path.with_name(name.format(number)) for number in range(1, count + 1)]
