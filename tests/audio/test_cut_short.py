"""Files that end before their headers say are refused; what has no length in its header is read to its end."""

import struct

import numpy as np
import pytest
import soundfile

from s2mlx.audio import pcm16, read_audio, stream_wav_header, write_audio

from .test_files import RATE, refused, tone

MEASURED = ["WAV", "WAVEX", "AIFF", "AU", "CAF", "W64", "RF64", "SVX", "VOC", "WVE", "MAT4", "FLAC", "MP3", "OGG"]


@pytest.fixture(scope="module")
def noise():
    return (0.2 * np.random.default_rng(0).standard_normal(RATE * 3)).astype(np.float32)


def written(folder, kind, samples):
    path = folder / f"a.{kind.lower()}"
    soundfile.write(path, samples, RATE, format=kind, subtype=soundfile.default_subtype(kind))
    return path


@pytest.mark.parametrize("kind", MEASURED)
def test_a_part_of_a_file_is_refused_and_the_whole_is_not(tmp_path, kind, noise):
    path = written(tmp_path, kind, noise)
    content = path.read_bytes()
    rate = soundfile.info(path).samplerate  # Psion's is always 8000
    assert abs(len(read_audio(path, rate)) - len(noise)) < 0.1 * rate
    for share in (0.5, 0.9):
        path.write_bytes(content[: int(len(content) * share)])
        message = refused(path)
        assert "cut short" in message or kind in ("FLAC", "MP3") and "damaged" in message


@pytest.mark.parametrize("length", [0x7FFFF000, 0x7FFFFFF0, 0xFFFFFFFF])
def test_a_streamed_wav_is_read_to_its_end(tmp_path, length):
    header = stream_wav_header(RATE)[:40] + struct.pack("<I", length)
    (tmp_path / "a.wav").write_bytes(header + pcm16(tone()))
    assert np.array_equal(read_audio(tmp_path / "a.wav", RATE), np.frombuffer(pcm16(tone()), "<i2") / np.float32(32768))


@pytest.mark.parametrize(
    "kind, mark, skip, form, lengths",
    [
        ("AU", b".snd", 4, ">I", [2**32 - 1]),
        ("AIFF", b"SSND", 0, ">I", [2**32 - 1, 2**31 - 1, 0]),
        ("W64", b"riff", 12, "<Q", [2**64 - 1, 2**63 - 1, 0]),
    ],
)
def test_other_streamed_files_too(tmp_path, kind, mark, skip, form, lengths):
    path = written(tmp_path, kind, tone())
    whole = read_audio(path, RATE)
    for length in lengths:
        content = bytearray(path.read_bytes())
        struct.pack_into(form, content, content.index(mark) + 4 + skip, length)
        (tmp_path / "streamed").write_bytes(content)
        assert np.array_equal(read_audio(tmp_path / "streamed", RATE), whole)


def test_a_little_padding_that_is_missing_is_no_loss(tmp_path):
    path = written(tmp_path, "W64", tone())
    content = bytearray(path.read_bytes())
    struct.pack_into("<Q", content, 16, len(content) + 4)
    path.write_bytes(content)
    assert len(read_audio(path, RATE)) == RATE


@pytest.mark.parametrize("samples", [65536, 100_000, 20_000])
def test_a_flac_without_a_count_is_read_to_its_end(tmp_path, noise, samples):
    """As `ffmpeg -f flac -` and `sox -t flac -` write it to a pipe: total_samples of STREAMINFO is 0."""
    write_audio(tmp_path / "a.flac", noise[:samples], RATE)
    content = bytearray((tmp_path / "a.flac").read_bytes())
    content[21] &= 0xF0
    content[22:26] = bytes(4)
    (tmp_path / "piped.flac").write_bytes(content)
    assert soundfile.info(tmp_path / "piped.flac").frames > 2**62
    assert np.array_equal(read_audio(tmp_path / "piped.flac", RATE), read_audio(tmp_path / "a.flac", RATE))
    assert "longer than 0.1 s" in refused(tmp_path / "piped.flac", max_seconds=0.1)
    content[len(content) // 2 : len(content) // 2 + 2000] = bytes(2000)
    (tmp_path / "piped.flac").write_bytes(content)
    assert "damaged" in refused(tmp_path / "piped.flac")


def box(kind, size):
    return struct.pack(">I4s", 8 + size, kind) + bytes(size)


def test_half_an_m4a_is_refused_before_it_is_converted(tmp_path):
    """A converter would give what it finds, and call that success."""
    content = box(b"ftyp", 24) + box(b"moov", 500) + struct.pack(">I4sQ", 1, b"mdat", 16 + 3000) + bytes(3000)
    for cut in (3400, 1000, 100):
        (tmp_path / "a.m4a").write_bytes(content[:cut])
        assert "cut short" in refused(tmp_path / "a.m4a")
    (tmp_path / "a.m4a").write_bytes(content)
    assert "cut short" not in refused(tmp_path / "a.m4a")


def test_a_streamed_caf_needs_a_converter(tmp_path, monkeypatch):
    path = written(tmp_path, "CAF", tone())
    content = bytearray(path.read_bytes())
    at = content.index(b"data") + 4
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install ffmpeg" in refused(path)
