"""Kept files: found by their key, whole or not at all, never more than was allowed."""

import os
import stat

import numpy as np
import pytest

from s2mlx.files import KeptFiles

KEY, OTHER = "a" * 64, "b" * 64
BODY = [np.arange(3000, dtype=np.float32).reshape(3, 1000), np.arange(7, dtype=np.uint8)]


@pytest.fixture
def kept(tmp_path):
    return KeptFiles(tmp_path / "cache" / "prefixes", 1 << 20)


def test_what_was_kept_comes_back(kept):
    assert kept.read(KEY) is None and kept.entries() == [] and kept.clear() == []
    assert kept.write(KEY, {"voices": ["me"]}, BODY)
    about, body = kept.read(KEY)
    assert about == {"voices": ["me"]} and body.tobytes() == b"".join(part.tobytes() for part in BODY)
    assert not body.flags.writeable and body.ctypes.data % 64 == 0
    assert kept.read(OTHER) is None
    assert stat.S_IMODE(os.stat(kept.folder).st_mode) == 0o700
    [entry] = kept.entries()
    assert stat.S_IMODE(os.stat(entry.path).st_mode) == 0o600 and entry.about == about


def test_a_file_with_one_other_byte_is_none(kept):
    kept.write(KEY, {}, [np.arange(500, dtype=np.uint8)])
    [entry] = kept.entries()
    whole = entry.path.read_bytes()
    places = [*range(120), *range(4090, len(whole), 7), len(whole) - 1]
    for place in places:
        spoilt = bytearray(whole)
        spoilt[place] ^= 1 << place % 8
        entry.path.write_bytes(spoilt)
        assert kept.read(KEY) is None, place
        assert not entry.path.exists()  # and it is no trouble again
    for other in (b"", whole[:50], whole[:-1], whole + b"\0", whole[:4096]):
        entry.path.write_bytes(other)
        assert kept.read(KEY) is None
    entry.path.write_bytes(whole)
    assert kept.read(KEY) is not None


def test_an_entry_under_another_name_is_none(kept):
    kept.write(KEY, {}, BODY)
    [entry] = kept.entries()
    entry.path.rename(entry.path.with_stem(OTHER))
    assert kept.read(OTHER) is None


def test_the_one_used_longest_ago_goes_first(kept):
    part = [np.zeros(300_000, np.uint8)]
    for number, key in enumerate("123"):
        kept.write(key, {"number": number}, part)
        os.utime(kept.folder / f"{key}.kept", (number, number))
    assert kept.read("1")  # it is the youngest now
    assert kept.write("4", {}, part)
    assert {entry.path.stem for entry in kept.entries()} == {"1", "3", "4"}
    assert sum(entry.bytes for entry in kept.entries()) <= kept.most


def test_what_is_too_large_is_not_kept_and_drives_nobody_out(kept):
    kept.write(KEY, {}, BODY)
    assert not kept.write(OTHER, {}, [np.zeros(2 << 20, np.uint8)])
    assert len(kept.entries()) == 1


def test_the_same_again_replaces_it(kept):
    for value in (1, 2):
        assert kept.write(KEY, {"value": value}, [np.full(900_000, value, np.uint8)])
    about, body = kept.read(KEY)
    assert about["value"] == body[0] == 2 and len(kept.entries()) == 1


def test_a_folder_that_cannot_be_is_no_fault(tmp_path):
    (tmp_path / "file").write_text("")
    kept = KeptFiles(tmp_path / "file" / "prefixes", 1 << 20)
    assert not kept.write(KEY, {}, BODY) and kept.read(KEY) is None and kept.entries() == []


def test_strangers_in_the_folder(kept):
    kept.write(KEY, {}, BODY)
    (kept.folder / "notes.txt").write_text("mine")
    (kept.folder / "junk.kept").write_bytes(b"S2MLXKEP\xff\xff\xff\xff")
    os.mkfifo(kept.folder / "pipe.kept")
    assert {entry.path.name for entry in kept.entries()} == {f"{KEY}.kept", "junk.kept"}
    kept.clear()
    assert {path.name for path in kept.folder.iterdir()} == {"notes.txt", "pipe.kept"}
