"""Text files and pipes: read whole and as UTF-8, or refused in one line. What the words mean is not known here."""

from __future__ import annotations

from ..errors import S2Error, reason
from .regular import open_regular

LARGEST_TEXT = 16_000_000  # bytes: several long books; more is a mistake, such as a disk image given for a text


def read_text_file(path, largest: int = LARGEST_TEXT, *, pipes: bool = True) -> str:
    """The text of a file of at most `largest` bytes, or of a pipe until it is closed, if those do. Raises S2Error."""
    try:
        with open(path, "rb") if pipes else open_regular(path) as file:
            data = file.read(largest + 1)
    except (OSError, ValueError) as fault:
        raise S2Error(f"cannot read {path}: {reason(fault)}") from fault
    return decode_text(data, str(path), largest)


def decode_text(data: bytes, name: str, largest: int = LARGEST_TEXT) -> str:
    """`data` as text, a byte order mark left away; `name` says where it is from. Raises S2Error, also when there are
    more than `largest` bytes."""
    if len(data) > largest:
        raise S2Error(f"{name} is longer than {largest // 1_000_000} MB of text; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise S2Error(f"{name} is not UTF-8 text (byte {fault.start}); convert it, for example with iconv") from fault
    if "\0" in text:  # UTF-16 without its mark, or no text at all
        raise S2Error(f"{name} is not UTF-8 text (byte {data.index(0)} is 0); convert it, for example with iconv")
    return text
