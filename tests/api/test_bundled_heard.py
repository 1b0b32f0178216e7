"""The bundled voice is understood: an outside recognizer writes down what it says. Skips without moonshine-voice (PyPI,
its model inside the wheel)."""

import difflib
import os
import re

import numpy as np
import pytest

import s2mlx
from s2mlx.audio.rates import resample
from s2mlx.errors import ModelError
from s2mlx.files.folders import assets_dir
from s2mlx.weights.catalog import DEMO, find_model

SENTENCES = [
    "Hello, this is my first sentence.",
    "We are going to the beach on Sunday.",
    "The train leaves at seven, and we will be home before it rains.",
]


@pytest.fixture(scope="module")
def hear():
    """samples, rate -> words"""
    moonshine = pytest.importorskip("moonshine_voice", reason="the recognizer moonshine-voice is not installed")
    model = os.path.join(str(moonshine.get_assets_path()), "tiny-en")
    recognizer = moonshine.Transcriber(model_path=model, model_arch=moonshine.ModelArch.TINY)

    def words(samples, rate):
        padded = np.pad(resample(samples, rate, 16000), 4000)  # it misses a word that begins at once
        lines = recognizer.transcribe_without_streaming(padded.tolist(), 16000).lines
        return spelled(" ".join(line.text for line in lines))

    return words


def voices():
    return list((assets_dir() / "nano").glob("*.s2voice"))


def spelled(text):
    return re.sub(r"[^a-z ]", " ", text.lower().replace("'", "").replace("7", "seven")).split()


def heard_share(wanted, heard):
    """Words of `wanted` that stand in `heard`, in order, over all words."""
    blocks = difflib.SequenceMatcher(None, wanted, heard, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(wanted)


def test_three_sentences_are_understood(hear):
    try:
        found = find_model(DEMO)
    except ModelError as fault:
        pytest.skip(str(fault))
    with s2mlx.load(found.path) as tts:
        shares = []
        for text in SENTENCES:
            audio = tts.say(text, seed=1)
            assert audio.finish_reason == "stop"
            shares.append(heard_share(spelled(text), hear(audio.samples, audio.sample_rate)))
    assert sum(shares) / len(shares) > 0.8, shares


LONG = (
    "A gentle wind carried the smell of pine over the valley. Seven sailors waited beside the harbor wall. "
    "Their captain studied a faded map by candle light."
)


def test_a_clone_from_ten_seconds_says_the_text_and_not_its_reference(hear):
    try:
        found = find_model(DEMO)
    except ModelError as fault:
        pytest.skip(str(fault))
    with s2mlx.load(found.path) as tts:
        clip = tts.say(LONG, voice=min(voices()), seed=1)
        assert 8 < clip.seconds < 14
        clone = tts.clone((clip.samples, clip.sample_rate), LONG)
        heard = [
            spelled(" ".join(hear(a.samples, a.sample_rate)))
            for a in (tts.say(t, voice=clone, seed=1) for t in SENTENCES)
        ]
    shares = [heard_share(spelled(text), words) for text, words in zip(SENTENCES, heard)]
    assert sum(shares) / len(shares) > 0.8, heard
    only_there = {word for word in spelled(LONG) if len(word) > 4} - set(spelled(" ".join(SENTENCES)))
    assert not only_there & set(sum(heard, [])), heard


def test_noise_is_not_understood(hear):
    """The test above can fail."""
    noise = np.random.default_rng(0).normal(0, 0.1, 44100).astype(np.float32)
    assert heard_share(spelled(SENTENCES[0]), hear(noise, 22050)) < 0.5
