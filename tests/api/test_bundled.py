"""The bundled voice, as it comes: it ends its sentences by itself, a seed repeats, every bundled voice speaks."""

import importlib

import numpy as np
import pytest

import s2mlx
from s2mlx.audio.loudness import rms_db
from s2mlx.errors import ModelError
from s2mlx.files.folders import assets_dir
from s2mlx.text import estimate_seconds
from s2mlx.weights.catalog import DEMO, find_model

TEXT = "Good morning, how are you today?"


@pytest.fixture(scope="module")
def tts():
    try:
        find_model(DEMO)
    except ModelError as fault:
        pytest.skip(str(fault))
    with s2mlx.load(DEMO) as tts:
        yield tts


def voices():
    folder = assets_dir()
    return sorted((folder / "nano").glob("*.s2voice")) if folder else []


def check(tts, audio, text):
    """Ended by the model, about as long as the words take, and neither silent nor clipped throughout."""
    assert audio.finish_reason == "stop"
    assert 0.3 < audio.seconds / estimate_seconds(text) < 3
    assert len(audio.samples) == audio.codes.shape[1] * tts.frame_samples
    assert -40 < rms_db(audio.samples) < -6 and np.abs(audio.samples).max() <= 1


def test_a_sentence_ends_by_itself_and_a_seed_repeats(tts):
    assert tts.is_demo
    first, second, other = (tts.say(TEXT, seed=seed) for seed in (1, 1, 2))
    for audio in (first, other):
        check(tts, audio, TEXT)
    np.testing.assert_array_equal(first.codes, second.codes)
    np.testing.assert_array_equal(first.samples, second.samples)
    assert not np.array_equal(first.codes, other.codes)


@pytest.mark.skipif(not voices(), reason="no voices are bundled")
def test_every_bundled_voice_speaks(tts):
    said = []
    for path in voices():
        voice = s2mlx.Voice.load(path)
        voice.check(tts.config)
        audio = tts.say(TEXT, voice=voice, seed=1)
        check(tts, audio, TEXT)
        said.append(audio.codes.tobytes())
    assert len(set(said)) == len(said)
    name, path = voices()[0].stem, voices()[0]
    for way in (name, path, str(path), [name]):
        assert tts.say(TEXT, voice=way, seed=1).codes.tobytes() == said[0]
    with pytest.raises(s2mlx.VoiceError, match="there is no voice"):
        tts.say(TEXT, voice="nobody-of-this-name")


def test_a_voice_of_the_first_one_does_not_fit(tts):
    """Its codes would name other sounds; it had 1024 of them."""
    codes = np.zeros((tts.config.num_codebooks, 20), int)
    first = s2mlx.Voice(codes, "Good morning.", tts.sample_rate, 1024)
    with pytest.raises(s2mlx.VoiceError, match="made for another model"):
        tts.say(TEXT, voice=first)


def test_what_is_printed_is_short(tts):
    """Not the samples and codes themselves."""
    audio = tts.say(TEXT, seed=1)
    assert len(repr(audio)) < 600 and "array" not in repr(audio) and "stop" in repr(audio)


def test_what_it_says_can_be_its_reference(tts):
    audio = tts.say(TEXT, seed=1)
    voice = tts.clone((audio.samples, tts.sample_rate), TEXT)
    assert voice.codes.shape == audio.codes.shape
    check(tts, tts.say("The train leaves at noon.", voice=voice, seed=1), "The train leaves at noon.")


def test_a_clone_from_a_longer_clip(tts):
    """Ten seconds, as people record them."""
    text = (
        "A gentle wind carried the smell of pine over the valley. Seven sailors waited beside the harbor wall. "
        "Their captain studied a faded map by candle light."
    )
    clip = tts.say(text, seed=1)
    assert 8 < clip.seconds < 14
    voice = tts.clone((clip.samples, tts.sample_rate), text)
    for said in (TEXT, "The train leaves at noon."):
        check(tts, tts.say(said, voice=voice, seed=1), said)


@pytest.mark.parametrize("text", ["...", "?!"])
def test_a_text_without_words_is_nothing_to_say(tts, text):
    with pytest.raises(s2mlx.UsageError, match="nothing to say"):
        tts.say(text, seed=1)


def test_its_pitch_moves(tts, monkeypatch):
    """By the pitches that its codes name, while it speaks: a semitone and a half at least, and no leaps."""
    recipe = assets_dir() / "nano" / "recipe"
    if not recipe.is_dir():
        pytest.skip("the recipe is not here")
    monkeypatch.syspath_prepend(str(recipe.parent))
    speakers = importlib.import_module("recipe.speakers")
    moved = []
    for seed, text in enumerate((TEXT, "The children are playing in the yard, and nobody wants to come in.")):
        codes = tts.say(text, seed=seed).codes[1]
        semitones = 12 * np.log2(speakers.PITCHES[speakers.parts(codes)[0]])
        assert np.abs(np.diff(semitones)).max() < 7
        moved.append(semitones.std())
    assert np.mean(moved) >= 1.5, moved
