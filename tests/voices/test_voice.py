"""The `.s2voice` file: byte for byte as s2.cpp writes it, and every way in which a file can lie."""

from __future__ import annotations

import dataclasses
import os
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mlx.config import ModelConfig
from s2mlx.errors import VoiceError
from s2mlx.voices import Voice
from tests.goldens import GOLDEN, TINY

TINY_FILE = GOLDEN / "tiny.s2voice"
HEADER = "<8sIiiiiQQ"


def voice(frames=3, transcript="Hi.", **changes):
    return Voice(
        **{
            "codes": np.arange(10 * frames).reshape(10, frames) % 256,
            "transcript": transcript,
            "codebook_size": 256,
            **changes,
        }
    )


def test_reads_what_s2cpp_wrote():
    loaded = Voice.load(TINY_FILE)
    assert (loaded.name, loaded.transcript) == ("tiny", "Reference words, é.")
    assert (loaded.sample_rate, loaded.codebook_size) == (44100, 256)
    assert loaded.codes.shape == (10, 44) and loaded.codes.dtype == np.int32
    assert loaded.codes[0, :4].tolist() == [10, 106, 60, 171]
    loaded.check(TINY)


def test_writes_the_same_bytes(tmp_path):
    Voice.load(TINY_FILE).save(tmp_path / "again.s2voice")
    assert (tmp_path / "again.s2voice").read_bytes() == TINY_FILE.read_bytes()


@given(
    st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=40),
    st.integers(1, 12),
    st.integers(1, 9),
    st.integers(1, 384_000),
    st.integers(1, 5000),
    st.randoms(),
)
@settings(max_examples=100, deadline=None)
def test_round_trip(transcript, books, frames, rate, size, random):
    codes = np.array([[random.randrange(size) for _ in range(frames)] for _ in range(books)])
    made = Voice(codes, transcript, rate, size)
    again = Voice.from_bytes(made.to_bytes())
    assert again == made and hash(again) == hash(made)
    np.testing.assert_array_equal(again.codes, codes)
    assert again.transcript == transcript


def test_equality_is_of_content():
    assert voice() == voice(name="other")
    assert voice() != voice(transcript="Ho.")
    assert voice() != voice(frames=4)
    assert voice() != voice(sample_rate=22050)
    assert voice() != "voice"


def test_codes_cannot_be_changed_from_outside():
    codes = np.ones((10, 2), np.int32)
    made = Voice(codes, "x")
    codes[0, 0] = 7
    assert made.codes[0, 0] == 1
    with pytest.raises(ValueError):
        made.codes[0, 0] = 2


@pytest.mark.parametrize(
    "changes, complaint",
    [
        ({"codes": np.ones((10, 2))}, "as integers, not float64"),
        ({"codes": np.ones(10, int)}, r"shape \[codebooks, frames\]"),
        ({"codes": np.ones((10, 0), int)}, "cannot have 0 frames"),
        ({"codes": np.ones((0, 3), int)}, "cannot have 0 codebooks"),
        ({"codes": np.full((10, 2), 256)}, r"code 256 \(codebook 0, frame 0\) is outside 0..255"),
        ({"codes": np.full((10, 2), -1)}, "code -1"),
        ({"codes": np.full((10, 2), 1 << 40)}, "code 1099511627776"),
        ({"transcript": "a\0b"}, "NUL"),
        ({"transcript": "a\ud800"}, "not valid Unicode at character 2"),
        ({"sample_rate": 0}, "0 samples per second"),
        ({"codebook_size": 0}, "0 entries per codebook"),
    ],
)
def test_a_voice_that_cannot_be(changes, complaint):
    with pytest.raises(VoiceError, match=complaint):
        voice(**changes)


def test_check_names_everything_that_differs():
    with pytest.raises(VoiceError) as caught:
        voice(codes=np.ones((9, 2), int), codebook_size=300, sample_rate=24000, name="anna").check(TINY)
    for part in (
        "'anna'",
        "codebooks 9, the model has 10",
        "codebook size 300, the model has 256",
        "sample rate 24000, the model has 44100",
    ):
        assert part in str(caught.value)
    voice(sample_rate=24000).check(dataclasses.replace(TINY, codec=None))
    with pytest.raises(VoiceError, match="4096"):
        voice().check(ModelConfig())


def file(
    magic=b"S2VOICE\0",
    version=1,
    books=10,
    frames=2,
    rate=44100,
    size=256,
    text=b"Hi.\0",
    text_bytes=None,
    code_bytes=None,
    codes=bytes(80),
    tail=b"",
):
    text_bytes = len(text) if text_bytes is None else text_bytes
    code_bytes = len(codes) if code_bytes is None else code_bytes
    return struct.pack(HEADER, magic, version, books, frames, rate, size, text_bytes, code_bytes) + text + codes + tail


def test_the_builder_below_is_right():
    assert Voice.from_bytes(file()).transcript == "Hi."


HOSTILE = [
    (b"", "empty file"),
    (b"S2VOIC", "does not begin with S2VOICE"),
    (b"RIFF" + bytes(100), "does not begin with S2VOICE"),
    (file()[:43], "cut off inside the header"),
    (file()[:8], "cut off inside the header"),
    (file()[:-1], "bytes announced, but the file has"),
    (file(tail=b"x"), "bytes announced, but the file has"),
    (file(version=0), "version 0"),
    (file(version=2), "version 2; this program reads version 1"),
    (file(books=0, codes=b""), "0 codebooks"),
    (file(books=-10), "-10 codebooks"),
    (file(books=2**31 - 1), "codebooks"),
    (file(frames=0, codes=b""), "0 frames"),
    (file(frames=-2), "-2 frames"),
    (file(frames=2**31 - 1, code_bytes=10 * 4 * (2**31 - 1)), "2147483647 frames"),
    (file(frames=4_000_000, code_bytes=160_000_000), "bytes announced, but the file has"),
    (file(books=-10, frames=-2), "-10 codebooks"),
    (file(frames=3), "3 codes take 120"),
    (file(rate=0), "0 samples per second"),
    (file(rate=-1), "-1 samples"),
    (file(size=0), "0 entries"),
    (file(size=2**31 - 1), "2147483647 entries"),
    (file(text=b""), "does not end where"),
    (file(text=b"Hi."), "does not end where"),
    (file(text=b"H\0i\0"), "does not end where"),
    (file(text=b"\xff\xfe\0"), "not UTF-8 at byte 0"),
    (file(text_bytes=2**64 - 1), "bytes announced"),
    (file(text_bytes=2**63), "bytes announced"),
    (file(text_bytes=0), "bytes announced"),
    (file(code_bytes=2**64 - 1), "bytes of codes announced"),
    (file(codes=struct.pack("<20i", *[-1] * 20)), "code -1"),
    (file(codes=struct.pack("<20i", *[256] * 20)), "code 256"),
    (file(size=1), None),
]


@pytest.mark.parametrize("data, complaint", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files(tmp_path, data, complaint):
    path = tmp_path / "hostile.s2voice"
    path.write_bytes(data)
    if complaint is None:
        assert Voice.load(path).frames == 2
        return
    with pytest.raises(VoiceError, match=complaint) as caught:
        Voice.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_without_end_is_not_read_whole(tmp_path):
    path = tmp_path / "huge.s2voice"
    with open(path, "wb") as out:
        out.write(file())
        out.truncate(8 << 30)
    tracemalloc.start()
    with pytest.raises(VoiceError, match="too much for a voice"):
        Voice.load(path)
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("path", ["/dev/zero", "nowhere.s2voice", ".", "a\0b"])
def test_what_is_no_file(path):
    with pytest.raises(VoiceError):
        Voice.load(path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.s2voice")
    with pytest.raises(VoiceError, match="not a file"):
        Voice.load(tmp_path / "pipe.s2voice")


def reads_or_refuses(data):
    try:
        loaded = Voice.from_bytes(bytes(data))
    except VoiceError:
        return
    assert loaded.to_bytes() == bytes(data)  # what is accepted is understood to the last byte


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_fuzz_anything(data):
    reads_or_refuses(data)
    reads_or_refuses(b"S2VOICE\0\x01\0\0\0" + data)


U32 = st.sampled_from([0, 1, 2, 10, 44, 255, 2**31 - 1, 2**31, 2**32 - 1]) | st.integers(0, 2**32 - 1)
U64 = st.sampled_from([0, 1, 4, 21, 80, 1760, 2**32, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)


@given(st.tuples(*[U32] * 5), st.tuples(*[U64] * 2), st.binary(max_size=120))
@settings(max_examples=300, deadline=None)
def test_fuzz_headers(words, lengths, tail):
    reads_or_refuses(struct.pack("<8sIIIIIQQ", b"S2VOICE\0", *words, *lengths) + tail)


@given(
    st.lists(st.tuples(st.integers(0, 1824), st.integers(0, 255)), min_size=1, max_size=4),
    st.none() | st.integers(0, 1824),
)
@settings(max_examples=400, deadline=None)
def test_fuzz_mutations(changes, cut):
    data = bytearray(TINY_FILE.read_bytes())
    for at, value in changes:
        data[at] = value
    reads_or_refuses(data[:cut])


def test_save_is_whole_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "v.s2voice"
    voice().save(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VoiceError, match="the disk is full"):
        voice(frames=5).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["v.s2voice"]


def test_save_where_nothing_can_be(tmp_path):
    with pytest.raises(VoiceError, match="there is no folder"):
        voice().save(tmp_path / "no" / "v.s2voice")
    with pytest.raises(VoiceError, match="null"):
        voice().save("a\0b.s2voice")
    with pytest.raises(VoiceError, match="44100.0 samples"):
        voice(sample_rate=44100.0)
