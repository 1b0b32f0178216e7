"""The bundled voice is understood: an outside recognizer writes down what it says. Skips without moonshine-voice (PyPI,
its model inside the wheel)."""

import numpy as np
import pytest

import s2mlx
from s2mlx.errors import ModelError
from s2mlx.files.folders import assets_dir
from s2mlx.listen import compare, find_ear
from s2mlx.listen.spelling import spelled
from s2mlx.weights.catalog import DEMO, find_model

SENTENCES = [
    "Hello, this is my first sentence.",
    "We are going to the beach on Sunday.",
    "The train leaves at seven, and we will be home before it rains.",
]


@pytest.fixture(scope="module")
def hear():
    """samples, rate -> text"""
    pytest.importorskip("moonshine_voice", reason='the recognizer is not installed: pip install "s2mlx[ear]"')
    ear = find_ear("moonshine")
    yield lambda samples, rate: ear.hear(samples, rate).text
    ear.close()


def voices():
    return list((assets_dir() / "nano").glob("*.s2voice"))


def heard_share(wanted, heard):
    """Words of `wanted` that stand in `heard`, in order, over all words."""
    found = compare(wanted, heard)
    return 1 - (found.missing + found.replaced) / found.words


def words(text):
    return {word.text for word in spelled(text)}


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
            shares.append(heard_share(text, hear(audio.samples, audio.sample_rate)))
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
        said = [tts.say(text, voice=clone, seed=1) for text in SENTENCES]
    heard = [hear(audio.samples, audio.sample_rate) for audio in said]
    shares = [heard_share(text, each) for text, each in zip(SENTENCES, heard)]
    assert sum(shares) / len(shares) > 0.8, heard
    only_there = {word for word in words(LONG) if len(word) > 4} - words(" ".join(SENTENCES))
    assert not only_there & words(" ".join(heard)), heard


def test_noise_is_not_understood(hear):
    """The test above can fail."""
    noise = np.random.default_rng(0).normal(0, 0.1, 44100).astype(np.float32)
    assert heard_share(SENTENCES[0], hear(noise, 22050)) < 0.5
