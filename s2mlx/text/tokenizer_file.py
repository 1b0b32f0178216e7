"""What a tokenizer.json may hold: the parts that S2's and ours have, in sane proportions.

The library panics or aborts the whole process on some faults (a subword prefix that cuts a character, a damaged
character map), so what these tokenizers never have is refused by name before the library sees it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ModelError, reason

# S2 Pro's has 6 MB and 155,774 ids
_LARGEST_FILE = 64 << 20
_MOST_IDS = 1 << 24
_MOST_PARTS = 1 << 16  # ours replaces some ten thousand words
_LONGEST_CONTENT = 1000  # characters that a replacement puts in; ours: 19

# kind of part -> what its types may have, and of which type that is. Whatever else the library knows, we do not.
_PARTS: dict[str, dict[str, dict[str, type]]] = {
    "normalizer": {
        "NFC": {},
        "NFD": {},
        "NFKC": {},
        "NFKD": {},
        "Lowercase": {},
        "StripAccents": {},
        "Replace": {"pattern": dict, "content": str},
    },
    "pre_tokenizer": {
        "ByteLevel": {"add_prefix_space": bool, "trim_offsets": bool, "use_regex": bool},
        "Split": {"pattern": dict, "behavior": str, "invert": bool},
    },
    "post_processor": {"ByteLevel": {"add_prefix_space": bool, "trim_offsets": bool, "use_regex": bool}},
    "decoder": {"ByteLevel": {"add_prefix_space": bool, "trim_offsets": bool, "use_regex": bool}},
}
_SEQUENCES = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}


def read_tokenizer_file(path: Path) -> tuple[str, dict]:
    """The file's text and the JSON in it: a byte-level BPE that S2's tokenizer could be. Raises `ModelError`."""
    text = _read(path)
    try:
        root = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ModelError(f"{path} is not a tokenizer file: {one_line(fault)}") from None
    if wrong := next(_faults(root), None):
        raise ModelError(f"{path} is not a tokenizer file that can be used: {wrong}")
    return text, root


def parts(root: dict, kind: str) -> list[dict]:
    """The normalizers or pre-tokenizers of a checked file, in order."""
    part = root.get(kind)
    if part is None:
        return []
    return part[_SEQUENCES[kind]] if part["type"] == "Sequence" else [part]


def one_line(fault: BaseException) -> str:
    return " ".join(str(fault).split())[:200]


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            raise ModelError(f"no tokenizer at {path}")
        size = path.stat().st_size
        if size > _LARGEST_FILE:
            raise ModelError(f"{path} has {size >> 20} MB, too much for a tokenizer ({_LARGEST_FILE >> 20} MB at most)")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as fault:
        raise ModelError(f"{path} is not a tokenizer file: not UTF-8 at byte {fault.start}") from None
    except OSError as fault:
        raise ModelError(f"cannot read {path}: {reason(fault)}") from fault


def _faults(root: Any) -> Iterator[str]:
    """What is wrong; the first of it makes the file useless."""
    model = root.get("model") if isinstance(root, dict) else None
    if not isinstance(model, dict):
        yield "it has no model"
        return
    if model.get("type", "BPE") != "BPE":
        yield "its model is not BPE"
    for key in ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"):
        if model.get(key) not in (None, "", False):
            yield f"S2's tokenizer has no {key}"
    vocab, merges = model.get("vocab"), model.get("merges")
    if not (isinstance(vocab, dict) and vocab and isinstance(merges, list)):
        yield "it has no vocabulary"
        return
    if not all(type(i) is int and 0 <= i < _MOST_IDS for i in vocab.values()):
        yield f"an id is not a number below {_MOST_IDS}"
    added = root.get("added_tokens")
    if not (isinstance(added, list) and all(isinstance(t, dict) for t in added)):
        yield "it has no added tokens"
        return
    if not all(type(t.get("id")) is int and 0 <= t["id"] < _MOST_IDS and t.get("content") for t in added):
        yield f"an added token has no content or no id below {_MOST_IDS}"
    for kind in _PARTS:
        yield from _part_faults(root.get(kind), kind)


def _part_faults(part, kind: str) -> Iterator[str]:
    if part is None:
        return
    name = part.get("type") if isinstance(part, dict) else None
    if name != "Sequence" or kind not in _SEQUENCES:
        yield from _type_faults(part, name, kind)
        return
    several = part.get(_SEQUENCES[kind])
    if not isinstance(several, list) or len(several) > _MOST_PARTS:
        yield f"its {kind} is no list of at most {_MOST_PARTS} parts"
    for one in several:
        yield from _type_faults(one, one.get("type") if isinstance(one, dict) else None, kind)


def _type_faults(part, name, kind: str) -> Iterator[str]:
    known = _PARTS[kind]
    if not isinstance(name, str) or name not in known:
        yield f"its {kind} is {name!r:.40}; known: {', '.join(known)}"
    for field, type_ in known[name].items():
        if field in part and not isinstance(part[field], type_):
            yield f"the {field} of its {kind} {name} is {part[field]!r:.40}"
    if "pattern" in known[name]:
        pattern = part.get("pattern") or {}
        [(spelling, text)] = pattern.items() if len(pattern) == 1 else [("none", None)]
        if spelling not in ("String", "Regex") or not isinstance(text, str) or not text:
            yield f"its {kind} {name} has no pattern, or an empty one"
    if "content" in known[name] and not len(part.get("content", "")) <= _LONGEST_CONTENT:
        yield f"its {kind} {name} puts in {len(part['content'])} characters; at most {_LONGEST_CONTENT} are possible"
