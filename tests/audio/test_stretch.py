"""Speech faster or slower: length, pitch, pieces, the exact way at rate 1."""

import numpy as np
import pytest

from s2mlx.audio.stretch import TimeStretch

RATE = 44100
FRAME = 2048  # samples of the model's frame: the first piece


def vowel(seconds=2.0, pitch=110.0):
    """A buzz whose loudness moves, float32 [n]."""
    t = np.arange(round(seconds * RATE)) / RATE
    buzz = sum(np.sin(2 * np.pi * pitch * k * t) / k for k in range(1, 12))
    return (0.2 * buzz * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * t))).astype(np.float32)


def stretched(samples, rate, size):
    stretch = TimeStretch(rate, RATE)
    pieces = [stretch.add(samples[at : at + size]) for at in range(0, len(samples), size)]
    return np.concatenate([*pieces, stretch.finish()])


def pitch_of(samples):
    """By autocorrelation, Hz."""
    part = samples[len(samples) // 4 : len(samples) // 4 + 8192].astype(np.float64)
    similar = np.correlate(part, part, "full")[len(part) - 1 :]
    low, high = RATE // 400, RATE // 60
    return RATE / (low + similar[low:high].argmax())


@pytest.mark.parametrize("rate", [0.5, 0.8, 1.25, 2.0])
def test_the_length_follows_and_the_pitch_stays(rate):
    samples = vowel()
    out = stretched(samples, rate, FRAME)
    assert out.dtype == np.float32 and len(out) == round(len(samples) / rate)
    assert abs(pitch_of(out) - 110) < 2
    assert np.abs(np.diff(out)).max() < 1.5 * np.abs(np.diff(samples)).max()  # no clicks where pieces meet


@pytest.mark.parametrize("rate", [0.7, 1.3])
def test_pieces_of_any_size_are_one_call(rate):
    samples = vowel(1.0)
    whole = stretched(samples, rate, len(samples))
    for size in (97, 999, 2048, 30000):
        np.testing.assert_array_equal(stretched(samples, rate, size), whole)


def test_nothing_is_done_at_rate_one():
    stretch, samples = TimeStretch(1.0, RATE), vowel(0.1)
    assert stretch.add(samples) is samples and not len(stretch.finish())


@pytest.mark.parametrize("rate", [0.5, 1.25, 1.5, 2.0])
def test_the_first_frame_sounds_at_once(rate):
    assert len(TimeStretch(rate, RATE).add(vowel()[:FRAME])) > 0


@pytest.mark.parametrize("rate", [0.5, 2.0])
@pytest.mark.parametrize("length", [0, 1, 100, 2000])
def test_short_sounds(rate, length):
    assert len(stretched(vowel()[:length], rate, 512)) == round(length / rate)


def test_the_last_word_is_kept():
    samples = np.concatenate([np.zeros(RATE // 2, np.float32), vowel(0.3)])
    out = stretched(samples, 1.25, FRAME)
    energy = lambda x: float(np.square(x, dtype=np.float64).sum())
    assert 0.6 < energy(out) * 1.25 / energy(samples) < 1.4
