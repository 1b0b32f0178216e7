"""What a program may pass, and what it is told when it passes something else."""

from pathlib import Path

import numpy as np
import pytest

from s2mlx.errors import AudioError, UsageError, VoiceError
from s2mlx.options import KNOBS, Options
from s2mlx.voices import read_clip

WAVE = np.sin(np.arange(4410) * 0.05).astype(np.float32)


@pytest.mark.parametrize("name", ["top_k", "seed", "max_frames", "pause_ms", "batch"])
def test_whole_numbers_of_numpy_are_numbers(name):
    value = getattr(Options(**{name: np.int64(20)}), name)
    assert value == 20 and type(value) is int  # a seed is added to what NumPy's integers cannot hold


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": 1.5},
        {"seed": "1"},
        {"max_frames": 20.0},
        {"min_frames": 1.5},
        {"min_frames": None},
        {"top_k": 2.0},
        {"pause_ms": 0.5},
        {"batch": 1.5},
        {"temperature": "warm"},
        {"temperature": float("inf")},
        {"temperature": float("nan")},
        {"top_p": [0.8]},
        {"top_p": "0.8"},
        {"top_k": True},
        {"temperature": True},
        {"temperature": 10**400},
        {"seed": 10**5000},
        {"top_p": 0},
        {"top_k": -1},
        {"seed": 2**64},
        {"max_frames": 0},
        {"pause_ms": 60_001},
        {"batch": 0},
        {"min_frames": 1025},
        {"trim": "no"},
        {"normalize": 1},
    ],
)
def test_options_that_make_no_sense(wrong):
    [name] = wrong
    with pytest.raises(UsageError, match=f"^{name} must be ") as caught:
        Options(**wrong)
    assert len(str(caught.value)) < 150


def test_every_option_has_its_knob_and_the_knobs_default():
    assert list(KNOBS) == list(Options.__dataclass_fields__)
    for name, knob in KNOBS.items():
        assert getattr(Options(), name) == knob.default and type(knob.default) in (knob.kind, type(None))
        assert knob.parse("") == knob.default and knob.default_words and knob.help and knob.type_words


@pytest.mark.parametrize(
    "name, text, value",
    [("top_p", " 0.5 ", 0.5), ("seed", "18446744073709551615", 2**64 - 1), ("trim", "yes", True), ("pause_ms", "0", 0)],
)
def test_knobs_read_what_people_type(name, text, value):
    assert KNOBS[name].parse(text) == value


@pytest.mark.parametrize(
    "name, text, rule",
    [
        ("top_p", "nan", "top_p must be above 0 and at most 1, not nan"),
        ("temperature", "hot", "temperature must be a number, not 'hot'"),
        ("top_k", "1.5", "top_k must be a whole number, not '1.5'"),
        ("seed", "-1", r"seed must be between 0 and 2\^64 - 1, not -1"),
        ("trim", "maybe", "trim must be true or false, not 'maybe'"),
        ("batch", "0", "batch must be at least 1, not 0"),
    ],
)
def test_knobs_say_what_they_take(name, text, rule):
    with pytest.raises(UsageError, match=f"^{rule}$"):
        KNOBS[name].parse(text)


def test_truth_values_of_numpy_are_truth_values():
    assert Options(trim=np.bool_(True)).trim is True


@pytest.mark.parametrize(
    "clip", [(WAVE, 44100), (list(WAVE), 44100.0), (np.stack([WAVE, WAVE], axis=1), np.int32(44100))]
)
def test_clips_of_samples(clip):
    samples, rate = read_clip(clip)
    assert samples.shape == WAVE.shape and rate == 44100


@pytest.mark.parametrize(
    "clip",
    [
        (WAVE, 0),
        (WAVE, -1),
        (WAVE, float("nan")),
        (WAVE, 10**9),
        (WAVE, "fast"),
        (WAVE,),
        (WAVE, 44100, 1),
        WAVE,
        None,
        5,
        (WAVE[:0], 44100),
        (WAVE[0], 44100),
        (WAVE[None, :, None], 44100),
        (np.zeros((5, 0)), 44100),
        (["a"], 44100),
        (np.stack([WAVE, WAVE]), 44100),
        (WAVE * np.nan, 22050),
    ],
    ids=range(17),
)
def test_clips_that_are_none(clip):
    with pytest.raises(AudioError):
        read_clip(clip)


def test_texts_and_voices_of_other_types(tts):
    for text in (None, b"Hello.", 5):
        with pytest.raises(UsageError, match="text"):
            tts.say(text)
    for voice in (b"nora", [None], 5):
        with pytest.raises(UsageError, match="Voice"):
            tts.say("Hello.", voice=voice)
    for voice in ("nora", Path("nora.s2voice"), ["nowhere/nora.s2voice"]):  # of another model, and of no file
        with pytest.raises(VoiceError):
            tts.say("Hello.", voice=voice)


def test_a_seed_of_numpy(tts):
    a, b = (tts.say("Hello.", seed=seed, max_frames=2, min_frames=2).codes for seed in (np.int64(3), 3))
    np.testing.assert_array_equal(a, b)
