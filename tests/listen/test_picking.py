"""A long recording: the picked part is one voice and whole sentences; noise and other voices stay out."""

import shutil
import subprocess

import numpy as np
import pytest
import soundfile

from s2mlx.audio import resample
from s2mlx.errors import AudioError
from s2mlx.listen import compare, find_ear, pick
from s2mlx.listen.phrases import find_phrases

from ..fakes import FakeEar

RATE = 16000
TEXTS = {
    "espeak-ng": "The library will be closed on Monday. Please return your books before the end of the week.",
    "slt": "The ferry leaves the harbour every morning at eight. On clear days you see the mountains from the deck. "
    "The crossing takes almost two hours, so bring something to read. Nobody complains about the captain.",
    "rms": "My uncle repairs clocks in a small shop near the station. Some of them only need a little patience.",
}


def hum(hertz, seconds):
    """A buzz with pauses in it, as of a voice: many harmonics, a syllable every fifth of a second."""
    at = np.arange(round(seconds * RATE)) / RATE
    wave = sum(np.sin(2 * np.pi * k * hertz * at) / k for k in range(1, 20))
    return (0.2 * wave * (0.5 + 0.5 * np.sin(2 * np.pi * 5 * at)) ** 2).astype(np.float32)


def still(seconds):
    return np.zeros(round(seconds * RATE), np.float32)


def noise(seconds):
    return np.random.default_rng(0).normal(0, 0.1, round(seconds * RATE)).astype(np.float32)


def test_phrases_know_their_pitch():
    phrases, floor = find_phrases(np.concatenate([still(1), hum(110, 2), still(0.5), hum(220, 3), still(1)]), RATE)
    ends = [1.0, 3.0, 3.5, 6.5]
    assert np.allclose([time for p in phrases for time in (p.begin, p.end)], ends, atol=0.15)
    assert np.allclose([p.pitch for p in phrases], [12 * np.log2(hertz) for hertz in (110, 220)], atol=0.5)
    assert floor < -100 and all(p.voiced > 0.8 for p in phrases)


def test_one_voice_is_picked_of_two_and_noise():
    sound = [noise(4), still(0.5), hum(110, 7), still(0.5), hum(200, 5.5), still(0.5), hum(200, 6), still(0.5)]
    sound += [hum(110, 4), still(1), noise(8)]
    ear = FakeEar(["These words are a whole sentence."])
    picked = pick(ear, np.concatenate(sound), RATE)
    assert 11.5 <= picked.begin <= 12.1 and 24 <= picked.end <= 25
    assert picked.heard.text == "These words are a whole sentence." and not picked.problems
    assert not picked.samples[-round(0.2 * RATE) :].any()  # a tight cut swallows the last word


@pytest.mark.parametrize(
    "sound", [noise(20), still(20), hum(110, 3), still(0)], ids=["noise", "silence", "short", "none"]
)
def test_where_nothing_will_do_it_is_said(sound):
    with pytest.raises(AudioError, match="no part of it"):
        pick(FakeEar(["Words."]), sound, RATE)


def test_words_that_do_not_end_a_sentence_are_not_picked():
    with pytest.raises(AudioError, match="no part of it"):
        pick(FakeEar(["these words go on and"]), np.concatenate([still(1), hum(110, 12), still(1)]), RATE)


def test_of_three_speakers_and_noise_one_is_picked_with_whole_sentences(tmp_path):
    pytest.importorskip("moonshine_voice", reason='the recognizer is not installed: pip install "s2mlx[ear]"')
    if not (shutil.which("flite") and shutil.which("espeak-ng")):
        pytest.skip("flite or espeak-ng is not installed")
    parts, places, at = [noise(3), still(0.5)], {}, 3.5
    for name, text in TEXTS.items():
        path = tmp_path / f"{name}.wav"
        command = (
            ["espeak-ng", "-w", path, text] if name == "espeak-ng" else ["flite", "-voice", name, "-o", path, text]
        )
        subprocess.run(command, check=True, capture_output=True)
        samples, rate = soundfile.read(path, dtype="float32")
        samples = resample(samples, rate, RATE)
        places[name] = at, at + len(samples) / RATE
        parts += [samples, still(0.4)]
        at += len(samples) / RATE + 0.4
    sound = np.concatenate([*parts, noise(3)])
    ear = find_ear("moonshine")
    picked = pick(ear, sound, RATE)
    ear.close()
    begin, end = places["slt"]
    assert begin - 0.5 <= picked.begin and picked.end <= end + 0.5 and 5 <= picked.end - picked.begin <= 16
    sentences = TEXTS["slt"].split(". ")
    runs = [". ".join(sentences[i:j]) for i in range(4) for j in range(i + 1, 5)]
    assert min(compare(run, picked.heard.text).rate for run in runs) < 0.3, picked.heard.text
    heard = picked.heard.text.strip(".").split()
    assert heard[:2] in [sentence.split()[:2] for sentence in sentences]
    assert heard[-1] in [sentence.strip(".").split()[-1] for sentence in sentences]
