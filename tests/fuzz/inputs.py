"""Inputs for readers: good files, and those that broke one before, with a few bytes or a few JSON values changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

NUMBERS = [0, 1, 2, 7, 8, 31, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]
WORDS = [
    b"",
    b"\0",
    b"\xff" * 8,
    b"-1",
    b"9" * 400,
    b"1e999",
    b"NaN",
    b"Infinity",
    b"true",
    b"null",
    b'""',
    b"[]",
    b"{}",
    b"[" * 3000,
    b"\\ud800",
    b"\x1b[2J",
    b"\n",
]
VALUES = [
    None,
    True,
    -1,
    0,
    0.5,
    1e300,
    10**400,
    2**64,
    float("nan"),
    float("inf"),
    "",
    "a",
    "\ud800",
    "\0",
    "a\nb\x1b[2J",
    "x" * 5000,
    [],
    {},
    [[1]],
    {"a": 1},
]


_VALUE = st.sampled_from(VALUES) | st.lists(st.sampled_from(VALUES), max_size=3)


@st.composite
def bytes_near(draw, seeds: Sequence[bytes], words: Sequence[bytes] = (), head: int = 4096) -> bytes:
    """A seed with one to four places changed, most of them near its beginning, where formats say what follows."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, min(len(data), draw(st.sampled_from([256, head, len(data)])))))
        what = draw(st.sampled_from(["byte", "bit", "number", "word", "cut", "gone", "again", "end", "other"]))
        if what == "byte":
            data[at : at + 1] = draw(st.binary(min_size=1, max_size=4))
        elif what == "bit" and at < len(data):
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif what == "number":
            width = draw(st.sampled_from([1, 2, 4, 8]))
            number = draw(st.sampled_from(NUMBERS)) % (1 << 8 * width)
            data[at : at + width] = number.to_bytes(width, draw(st.sampled_from(["little", "big"])))
        elif what == "word":
            data[at : at + draw(st.integers(0, 16))] = draw(st.sampled_from([*WORDS, *words]))
        elif what == "cut":
            del data[at:]
        elif what == "gone":
            del data[at : at + draw(st.integers(1, 64))]
        elif what == "again":
            data[at:at] = data[at : at + draw(st.integers(1, 64))] * draw(st.integers(1, 40))
        elif what == "end":
            data += draw(st.binary(max_size=16))
        else:  # the rest of another one
            other = draw(st.sampled_from(seeds))
            data[at:] = other[at:]
    return bytes(data)


@st.composite
def json_near(draw, seeds: Sequence[bytes]) -> bytes:
    """A JSON seed with one to three of its values replaced, keys doubled or gone; sometimes then as `bytes_near`."""
    value = json.loads(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(value))
        if not places:
            break
        inside, key = places[draw(st.integers(0, len(places) - 1))]
        if draw(st.integers(0, 5)) == 0:
            del inside[key]
        else:
            inside[key] = copy.deepcopy(draw(_VALUE))
    data = json.dumps(value).encode()
    return data if draw(st.integers(0, 3)) else draw(bytes_near([data]))


def _places(value) -> Iterator[tuple]:
    """(container, key) of every value inside."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield value, key
        yield from _places(inner)
