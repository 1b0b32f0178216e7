"""Resampling and loudness, against independent numbers where there are any."""

from pathlib import Path

import numpy as np
import pytest

from s2mlx.audio import loudness, pcm16
from s2mlx.audio.rates import StreamResampler, resample

GOLDEN = Path(__file__).parents[2] / ".." / "shared" / "golden"


@pytest.fixture(scope="module")
def golden():
    if not GOLDEN.exists():
        pytest.skip("the golden files are not beside the repository")
    return np.load(GOLDEN / "pipeline_f16.npz"), np.load(GOLDEN / "inputs" / "wave_2s.npy")


def test_golden_pcm16(golden):
    """The peer cuts where we round: never more than one step apart."""
    arrays, wave = golden
    ours = np.frombuffer(pcm16(wave[:2000]), "<i2").astype(int)
    assert np.abs(ours - arrays["pcm16_first2000"]).max() <= 1


def test_golden_trim(golden):
    arrays, wave = golden
    quiet = wave.copy()
    quiet[60000:] *= 0.001
    assert len(loudness.trim_end(quiet, 44100, keep=0.01)) == arrays["trim_len"][0]


def test_golden_resample(golden):
    """The peer interpolates on a line; below a quarter of the rate the two agree."""
    arrays, wave = golden
    for rate in (22050, 48000):
        theirs = arrays[f"resample_{rate}_44100"]
        ours = resample(wave[:8820], rate, 44100)
        assert abs(len(ours) - len(theirs)) <= 1
        n = min(len(ours), len(theirs))
        low = np.fft.rfftfreq(n, 1 / 44100) < 2000
        a, b = (np.fft.rfft(x[:n] * np.hanning(n))[low] for x in (ours, theirs))
        assert np.linalg.norm(a - b) < 0.02 * np.linalg.norm(b)


@pytest.mark.parametrize("src,dst", [(44100, 48000), (48000, 44100), (44100, 16000), (8000, 44100), (44100, 44100)])
@pytest.mark.parametrize("quality", ["HQ", "VHQ"])
def test_a_stream_resamples_like_the_whole(src, dst, quality):
    rng = np.random.default_rng(3)
    samples = rng.standard_normal(20_000).astype(np.float32)
    stream, out, begin = StreamResampler(src, dst, quality), [], 0
    while begin < len(samples):
        size = int(rng.choice([0, 1, 7, 64, 1000, 5000]))
        out.append(stream.push(samples[begin : begin + size]))
        begin += size
    out.append(stream.flush())
    joined, whole = np.concatenate(out), StreamResampler(src, dst, quality)
    reference = np.concatenate([whole.push(samples), whole.flush()])
    assert abs(len(joined) - len(samples) * dst / src) <= 1
    assert np.abs(joined - reference).max() < 1e-5


def test_tones_keep_their_level():
    t = np.arange(48000) / 48000
    out = resample(np.sin(2 * np.pi * 1000 * t).astype(np.float32), 48000, 44100)
    want = np.sin(2 * np.pi * 1000 * np.arange(44100) / 44100)
    assert np.abs(out[2000:-2000] - want[2000:-2000]).max() < 1e-4


def test_levels():
    t = np.arange(44100) / 44100
    sine = np.sin(2 * np.pi * 100 * t).astype(np.float32)
    assert abs(loudness.rms_db(sine) + 3.01) < 0.01
    assert loudness.peak(-2 * sine) == pytest.approx(2, abs=1e-3)
    assert loudness.rms_db(np.zeros(10)) == loudness.rms_db(np.zeros(0)) == loudness.FLOOR_DB
    assert abs(loudness.decibel(loudness.amplitude(-20.0)) + 20) < 1e-9


def test_noise_floor_and_speech_level():
    rng = np.random.default_rng(0)
    samples = (0.001 * rng.standard_normal(44100 * 2)).astype(np.float32)
    samples[44100:] += 0.2 * np.sin(np.arange(44100) / 10).astype(np.float32)
    assert abs(loudness.noise_floor_db(samples, 44100) + 60) < 1
    assert abs(loudness.speech_db(samples, 44100) + 17) < 1
    assert len(loudness.frame_levels(samples[:100], 44100)) == 1


def test_normalize():
    samples = np.array([0.1, -0.2], np.float32)
    assert np.allclose(loudness.peak_normalize(samples), [0.475, -0.95])
    assert not loudness.peak_normalize(np.zeros(3)).any() and not len(loudness.peak_normalize(np.zeros(0)))


def test_trim():
    rate = 1000
    samples = np.zeros(3000, np.float32)
    samples[1000:2000] = 0.5
    assert len(loudness.trim_end(samples, rate, keep=0.1)) == 2100
    assert len(loudness.trim_end(samples, rate, keep=9)) == 3000
    assert len(loudness.trim_end(np.zeros(50), rate)) == 50


@pytest.mark.parametrize("noise", [0.0, 1e-3, 0.02])
def test_seconds_that_are_heard(noise):
    """The silence around counts for nothing, a long pause for a short one."""
    rate = 16000
    tone = np.sin(np.arange(2 * rate) * 0.3).astype(np.float32) / 2
    gap = lambda seconds: np.zeros(round(seconds * rate), np.float32)
    clip = np.concatenate([gap(1.5), tone, gap(0.2), tone, gap(3), tone, gap(1)])
    clip += noise * np.random.default_rng(0).standard_normal(len(clip)).astype(np.float32)
    assert loudness.heard_seconds(clip, rate) == pytest.approx(2 + 0.2 + 2 + 0.4 + 2, abs=0.1)
    assert loudness.heard_seconds(tone, rate) == pytest.approx(2, abs=0.05)
    assert loudness.heard_seconds(tone[:0], rate) == 0


def test_silence_is_not_heard_for_longer_than_it_lasts():
    assert 0 <= loudness.heard_seconds(np.zeros(16000, np.float32), 16000) <= 1
