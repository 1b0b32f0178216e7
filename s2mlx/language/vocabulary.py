"""The tokens of a language model as bytes, whatever kind its tokenizer is."""

from __future__ import annotations

import re
from typing import Any

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def token_bytes(tokenizer: Any) -> dict[bytes, list[int]]:
    """What each ordinary token of a Hugging Face tokenizer writes -> its ids. Control tokens write nothing."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    added = {str(word) for word in tokenizer.get_added_vocab()}
    bytewise = _byte_alphabet()
    words = [word for word in vocabulary if word not in added]
    is_bytewise = all(set(word) <= bytewise.keys() for word in words)
    table: dict[bytes, list[int]] = {}
    for word in words:
        if is_bytewise:
            written = bytes(bytewise[c] for c in word)
        elif byte := _BYTE.fullmatch(word):
            written = bytes([int(byte[1], 16)])
        else:
            written = word.replace("▁", " ").encode()
        if written:
            table.setdefault(written, []).append(vocabulary[word])
    return table


def _byte_alphabet() -> dict[str, int]:
    """The letters in which byte-level BPE writes bytes: printable ones of Latin-1 stand for themselves, the others
    follow from U+0100 on (GPT-2's tokenizer)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}
