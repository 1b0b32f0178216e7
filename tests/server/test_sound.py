"""Formats: what leaves in pieces is, joined, a sound of the right rate and length."""

import io

import numpy as np
import pytest
import soundfile

from s2mlx.errors import AudioError
from s2mlx.server.sound import PCM_RATE, encoder


def tone(rate, seconds=1.5):
    return (0.5 * np.sin(2 * np.pi * 440 / rate * np.arange(int(rate * seconds)))).astype(np.float32)


def encoded(format, samples, rate, size=2048):
    """(pieces before the end, all bytes)"""
    one = encoder(format, rate)
    pieces = [one.add(samples[begin : begin + size]) for begin in range(0, len(samples), size)]
    return pieces, b"".join(pieces) + one.end()


def decoded(data):
    """Samples and rate; block by block, since a stream does not know its length."""
    with soundfile.SoundFile(io.BytesIO(data)) as file:
        return np.concatenate(list(_blocks(file))), file.samplerate


def _blocks(file):
    while len(block := file.read(4096, dtype="float32")):
        yield block


@pytest.mark.parametrize("rate", [44100, 22050])
@pytest.mark.parametrize("format, delay", [("wav", 0), ("flac", 0), ("mp3", 0.12), ("opus", 0.02)])
def test_a_tone_comes_back(format, delay, rate):
    samples = tone(rate)
    pieces, data = encoded(format, samples, rate)
    back, own_rate = decoded(data)
    assert own_rate == (48000 if format == "opus" else rate)
    assert len(samples) / rate <= len(back) / own_rate + 0.001 <= len(samples) / rate + delay + 0.002
    spectrum = np.abs(np.fft.rfft(back * np.hanning(len(back))))
    assert abs(spectrum.argmax() * own_rate / len(back) - 440) < 2
    assert 0.45 < np.abs(back[own_rate // 2 : own_rate]).max() < 0.6
    if format == "flac":
        assert soundfile.info(io.BytesIO(data)).frames == len(samples) and not any(pieces)
    else:
        assert sum(map(len, pieces[:25])) > 1000  # sound leaves long before the end


def test_pcm_is_16_bits_at_24_khz():
    samples = tone(44100)
    pieces, data = encoded("pcm", samples, 44100)
    back = np.frombuffer(data, "<i2") / 32768
    assert abs(len(back) - 1.5 * PCM_RATE) <= 1 and len(pieces[0]) > 0
    expected = 0.5 * np.sin(2 * np.pi * 440 / PCM_RATE * np.arange(len(back)))
    assert np.abs(back - expected)[100:-100].max() < 1e-3


@pytest.mark.parametrize("format", ["wav", "pcm"])
def test_the_sizes_of_pieces_do_not_matter(format):
    samples = tone(44100, 0.3)
    assert encoded(format, samples, 44100, 100)[1] == encoded(format, samples, 44100, 9000)[1]


@pytest.mark.parametrize("format", ["wav", "pcm", "flac", "mp3", "opus"])
def test_loud_samples_are_clipped_and_nan_is_refused(format):
    pieces, data = encoded(format, 3 * tone(44100, 0.2), 44100)
    assert data
    with pytest.raises(AudioError):
        encoder(format, 44100).add(np.full(8192, np.nan, np.float32))


def test_opus_leaves_at_once_and_is_small():
    """Pages of 80 ms, not of a second; speech does not need the bits of music."""
    noise = np.random.default_rng(0).standard_normal(44100 * 4).astype(np.float32)
    samples = 0.1 * np.convolve(noise, np.ones(8) / 8, "same").astype(np.float32)
    pieces, data = encoded("opus", samples, 44100)
    first = next(i for i, piece in enumerate(pieces) if i and piece)
    assert sum(map(len, pieces[: first + 1])) > 300 and len(data) * 8 / 4 < 60_000
    headers, size = len(pieces[0]), len(samples) / len(pieces) / 44100
    assert headers and first * size <= 0.2
