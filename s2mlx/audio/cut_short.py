"""Files that end before their own headers say: half a download, half a copy. They are refused, not half-read.

Knows the outermost framing of containers and libsndfile's log; decodes nothing. What was streamed into a pipe has no
length in its header, and passes; so do formats that never have one.
"""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path

from ..errors import AudioError
from .wav import UNKNOWN_LENGTH

# libsndfile's name of a format -> the part whose length its log compares with the file's: "data : 100 (should be 50)".
# The samples where that can be had; in W64 and RF64 only the whole.
_MEASURED = {
    "WAV": "data",
    "WAVEX": "data",
    "CAF": "data",
    "AIFF": "SSND",
    "AU": "Data Size",
    "SVX": "BODY",
    "W64": "riff",
    "RF64": "Riff size",
}
_WIDE = ("W64", "RF64")  # lengths of 64 bits; the others' unknown ones begin just under 2^31
_PADDING = 8  # bytes; a sloppy end of the whole is no loss
_OGG_PAGE = 27 + 255 + 255 * 255  # bytes, at most


def refuse_opened(file, path: Path) -> None:
    """AudioError if an open soundfile.SoundFile lacks a part of what its header promises."""
    if file.format == "OGG":
        _refuse_half_a_page(path)
        return
    log, label = file.extra_info, _MEASURED.get(file.format)
    found = label and re.search(rf"^\s*{label}\s*: (\d+) \(should be (\d+)\)", log, re.MULTILINE)
    if found:
        promised, there = int(found[1]), int(found[2])
        wide = file.format in _WIDE
        if promised < (2**62 if wide else UNKNOWN_LENGTH - 2**20) and promised - there > (_PADDING if wide else 0):
            raise _cut_short(path, there, promised)
    elif "truncated" in log or re.search(r"^Data length \d+ should be", log, re.MULTILINE):  # MAT, VOC; Psion's WVE
        raise AudioError(f"{path} is cut short; copy it again")


def refuse_foreign(path: Path, kind: str) -> None:
    """The same for what libsndfile does not open: the boxes of m4a, the chunks of CAF, one after the other."""
    if kind not in ("m4a", "caf"):
        return
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        at = 0 if kind == "m4a" else 8
        while at < size:
            file.seek(at)
            length = _box(file.read(16)) if kind == "m4a" else _chunk(file.read(12))
            if length is None:  # until the end of the file, or nothing that a container would hold
                return
            at += length
    if at > size:
        raise _cut_short(path, size, at)


def _box(head: bytes) -> int | None:
    length = struct.unpack(">I", head[:4])[0] if len(head) >= 8 else 0
    if length == 1 and len(head) == 16:
        length = struct.unpack(">Q", head[8:])[0]
    return length if length >= 8 else None


def _chunk(head: bytes) -> int | None:
    length = struct.unpack(">q", head[4:])[0] if len(head) == 12 else -1
    return 12 + length if length >= 0 else None


def _refuse_half_a_page(path: Path) -> None:
    """Ogg is pages; a file cut anywhere ends within one."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        file.seek(max(0, size - _OGG_PAGE))
        tail = file.read()
    begin = tail.rfind(b"OggS")
    if begin < 0:
        return  # what follows the last page is not Ogg's
    page = tail[begin:]
    parts = page[27 : 27 + page[26]] if len(page) > 26 else b""  # byte 26: how many parts, then the length of each
    if len(page) < 27 or len(page) < 27 + page[26] + sum(parts):
        raise AudioError(f"{path} is cut short: its last page is not whole; copy it again")


def _cut_short(path: Path, there: int, promised: int) -> AudioError:
    return AudioError(f"{path} is cut short: {there} bytes of {promised}; copy it again")
